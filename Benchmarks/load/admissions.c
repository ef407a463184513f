// Admissions, each from the connect to the close; challenges; and registrations made beforehand.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "load.h"

// Requests come from other addresses than sessions do, and from new ones each time, as their rate is limited.
enum { NONCE = 64, PER_ADDRESS = 100, FIRST_REQUEST = 1000000 };
static char challenge_request[160];
static char (*nonces)[NONCE];
static int nonce_count;

// ---- requests over connections that are kept: connection k sends its share, one after the other

struct requests {
  int total, done, at_once;
  int each;  // requests of one connection
  int status;
  const char *(*text)(int number);
  void (*answered)(int number, const char *response);
};

static void send_request(struct requests *requests, struct session *session, int number) {
  const char *text = requests->text(number);
  session->sent = (uint64_t)number;
  session->started = monotonic_ns();
  write_all(session, (const unsigned char *)text, strlen(text));
}

// One connection's turn; true when it has done all of its share and is closed.
static bool turn(struct requests *requests, struct session *session) {
  if (session->stage == CONNECTING || session->stage == SECURING) {
    advance(session);
    return false;
  }
  int status;
  const char *response = take_response(session, &status);
  if (response == NULL) return false;
  sample(monotonic_ns() - session->started);
  if (status != requests->status) die("answered with:\n%s", response);
  requests->answered((int)session->sent, response);
  requests->done++;
  int next = (int)session->sent + 1;
  if (next % requests->each == 0 || next >= requests->total) {
    SSL_shutdown(session->tls);
    end_session(session);
    return true;
  }
  send_request(requests, session, next);
  return false;
}

static void run_requests(struct requests *requests) {
  int each = requests->each;
  int shares = (requests->total + each - 1) / each, started = 0, ended = 0;
  static int first = FIRST_REQUEST;
  struct session *sessions = calloc((size_t)shares, sizeof *sessions);
  while (requests->done < requests->total) {
    for (; started < shares && started - ended < requests->at_once; started++) {
      int number = started * each;
      start_session(&sessions[started], started, source_address(first + number, PER_ADDRESS),
                    strdup(requests->text(number)));
      sessions[started].sent = (uint64_t)number;
    }
    struct epoll_event events[MAXIMUM_EVENTS];
    int found = epoll_wait(load.poller, events, MAXIMUM_EVENTS, 20000);
    if (found == 0)
      die("%d of %d requests were answered, and nothing happens", requests->done, requests->total);
    for (int index = 0; index < found; index++)
      if (turn(requests, events[index].data.ptr)) ended++;
  }
  first += (requests->total + PER_ADDRESS - 1) / PER_ADDRESS * PER_ADDRESS;
  free(sessions);
}

static void print_requests(int count, uint64_t started, uint64_t processor) {
  double seconds = (double)(monotonic_ns() - started) / 1e9;
  printf("{\"seconds\": %.6f, \"done\": %d, \"own_share\": %.4f, ", seconds, count,
         (double)(processor_ns() - processor) / 1e9 / seconds);
  samples_print(stdout);
  printf("}\n");
}

// ---- challenges

static const char *challenge_text(int number) {
  (void)number;
  return challenge_request;
}

static void keep_nonce(int number, const char *response) {
  const char *nonce = strstr(response, "\"nonce\":\"");
  if (nonce == NULL) die("not a challenge: %s", response);
  memcpy(nonces[number], nonce + 9, NONCE);
}

void run_challenges(int count, int at_once, const char *purpose, int each) {
  snprintf(challenge_request, sizeof challenge_request, "GET /attest/challenge%s%s HTTP/1.1\r\nHost: localhost\r\n\r\n",
           purpose == NULL ? "" : "?purpose=", purpose == NULL ? "" : purpose);
  nonces = realloc(nonces, (size_t)count * NONCE);
  nonce_count = count;
  samples_reset();
  uint64_t processor = processor_ns(), started = monotonic_ns();
  struct requests requests = {
      .total = count, .at_once = at_once, .each = each > 0 ? each : PER_ADDRESS, .status = 200,
      .text = challenge_text, .answered = keep_nonce};
  run_requests(&requests);
  print_requests(count, started, processor);
}

// For the floor, which looks at none of them; and for stays that are resumed by their own.
void invent_challenges(int count, bool told) {
  nonces = realloc(nonces, (size_t)count * NONCE);
  nonce_count = count;
  memset(nonces, 'a', (size_t)count * NONCE);
  if (told) printf("{\"nonces\": %d}\n", count);
}

void write_nonces(const char *path) {
  FILE *file = fopen(path, "w");
  if (file == NULL) die("%s", path);
  for (int index = 0; index < nonce_count; index++) fprintf(file, "%.64s\n", nonces[index]);
  if (fclose(file) != 0) die("%s", path);
  printf("{\"nonces\": %d}\n", nonce_count);
}

// ---- registrations and enrolments: one JSON body a line

static char **bodies;
static const char *post_path;

static const char *post_text(int number) {
  static char *text;
  free(text);
  if (asprintf(&text,
               "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n%s",
               post_path, strlen(bodies[number]), bodies[number]) < 0)
    die("asprintf");
  return text;
}

static void registered(int number, const char *response) {
  (void)number;
  (void)response;
}

void run_posts(const char *name, int at_once, const char *path) {
  FILE *file = fopen(name, "r");
  if (file == NULL) die("%s", name);
  post_path = path;
  int count = 0;
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  while ((length = getline(&line, &capacity, file)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    bodies = realloc(bodies, (size_t)(count + 1) * sizeof *bodies);
    bodies[count++] = strdup(line);
  }
  fclose(file);
  samples_reset();
  uint64_t processor = processor_ns(), started = monotonic_ns();
  struct requests requests = {
      .total = count, .at_once = at_once, .each = PER_ADDRESS, .status = 200, .text = post_text,
      .answered = registered};
  run_requests(&requests);
  print_requests(count, started, processor);
}

// ---- admissions

// Signed before the clock starts: what a phone does is no part of the measure.
static char **sign_all(bool by_next) {
  char **requests = calloc((size_t)nonce_count, sizeof *requests);
  for (int index = 0; index < nonce_count; index++) {
    char *fields = assertion_fields(index, by_next ? next_nonce(index) : nonces[index]);
    requests[index] = upgrade_request(index, fields);
    free(fields);
  }
  return requests;
}

static void ignore_payload(struct session *session, const unsigned char *data, size_t count) {
  (void)session;
  (void)data;
  (void)count;
}

// From the connect to the 101, a close frame, and the other side's end. True when it is over.
static bool admission_turn(struct session *session, int close_code) {
  if (session->stage == LEAVING) {
    int count = read_some(session);
    if (count > 0) take_frames(session, load.scratch, (size_t)count, ignore_payload);
    if (count >= 0) return false;
    end_session(session);
    return true;
  }
  advance(session);
  if (session->stage == OPEN) {
    const unsigned char code[2] = {(unsigned char)(close_code >> 8), close_code & 0xFF};
    unsigned char frame[16];
    sample(monotonic_ns() - session->started);
    session->stage = LEAVING;
    if (load.settings.protocol == RESUMABLE && close_code == 1000) forget_stay(session->number);
    write_all(session, frame, client_frame(frame, 8, code, sizeof code));
  }
  return false;
}

void run_admissions(int at_once, int code, bool by_next) {
  char **requests = sign_all(by_next);
  struct session *sessions = calloc((size_t)nonce_count, sizeof *sessions);
  samples_reset();
  printf("{\"signed\": %d}\n", nonce_count);
  fflush(stdout);
  if (getchar() != '\n') die("'go' was expected");
  uint64_t processor = processor_ns(), begun = monotonic_ns();
  int started = 0, ended = 0;
  while (ended < nonce_count) {
    for (; started < nonce_count && started - ended < at_once; started++)
      start_session(&sessions[started], started, source_address(started, PER_ADDRESS), requests[started]);
    struct epoll_event events[MAXIMUM_EVENTS];
    int found = epoll_wait(load.poller, events, MAXIMUM_EVENTS, 20000);
    if (found == 0) die("%d of %d admissions are over, and nothing happens", ended, nonce_count);
    for (int index = 0; index < found; index++)
      if (admission_turn(events[index].data.ptr, code)) ended++;
  }
  print_requests(ended, begun, processor);
  free(sessions);
  free(requests);
}
