// portcullis.v1 as an app speaks it: messages counted and acknowledged, stays that are left and resumed
// (docs/sessions.md).
#define _GNU_SOURCE
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "load.h"

enum { ID = 22, NONCE = 64, TEXT_MAXIMUM = 1024, ACK_MESSAGES = 32, ACK_BYTES = 16384 };
static const uint64_t ACK_TIME = 5000000000, SWEEP_TIME = 1000000000;

// What outlives a connection.
static struct stay {
  char id[ID + 1];  // empty when there is nothing to be resumed
  char next[NONCE + 1];
  uint64_t sent, received;
} *stays;
static int stay_count;

static struct stay *stay_of(int number) {
  if (number >= stay_count) {
    int wanted = (number + 1) * 2;
    stays = realloc(stays, (size_t)wanted * sizeof *stays);
    if (stays == NULL) die("realloc");
    memset(stays + stay_count, 0, (size_t)(wanted - stay_count) * sizeof *stays);
    stay_count = wanted;
  }
  return &stays[number];
}

void forget_stay(int number) { *stay_of(number) = (struct stay){0}; }

const char *next_nonce(int number) {
  if (stay_of(number)->next[0] == 0) die("stay %d has nothing to be resumed by", number);
  return stay_of(number)->next;
}

// ---- the upgrade

static const char *client_object(void) {
  static const char object[] = "{\"name\":\"bench\",\"version\":\"1\",\"terminal\":\"XTERM-256COLOR\",\"columns\":80,"
                               "\"rows\":24,\"gmcp\":[\"Char 1\"]}";
  static char text[sizeof object * 2];
  if (text[0] != 0) return text;
  EVP_EncodeBlock((unsigned char *)text, (const unsigned char *)object, sizeof object - 1);
  for (char *place = text; *place != 0; place++)
    *place = *place == '+' ? '-' : *place == '/' ? '_' : *place == '=' ? 0 : *place;
  return text;
}

void stay_fields(int number, char out[STAY_FIELDS]) {
  const struct stay *stay = stay_of(number);
  int count = snprintf(out, STAY_FIELDS, "Sec-WebSocket-Protocol: portcullis.v1\r\nPortcullis-Client: %s\r\n",
                       client_object());
  if (stay->id[0] != 0)
    snprintf(out + count, (size_t)(STAY_FIELDS - count), "Portcullis-Resume: %s;received=%lu\r\n", stay->id,
             stay->received);
}

// ---- counting

static void send_ack(struct session *session) {
  char text[64];
  unsigned char frame[80];
  int count =
      snprintf(text, sizeof text, "{\"type\":\"ack\",\"received\":%lu}", stay_of(session->number)->received);
  session->unacknowledged = session->unacknowledged_bytes = 0;
  write_all(session, frame, client_frame(frame, 1, (unsigned char *)text, (size_t)count));
}

void note_bytes(struct session *session, size_t count) { session->unacknowledged_bytes += (unsigned)count; }

void note_message(struct session *session) {
  stay_of(session->number)->received++;
  if (session->unacknowledged++ == 0) session->ack_due = monotonic_ns() + ACK_TIME;
  if (session->stage != OPEN) return;
  if (session->unacknowledged >= ACK_MESSAGES || session->unacknowledged_bytes >= ACK_BYTES) send_ack(session);
}

void note_sent(struct session *session) { stay_of(session->number)->sent++; }

void acknowledge(bool all) {
  static uint64_t next;
  uint64_t now = monotonic_ns();
  if (now < next && !all) return;
  next = now + SWEEP_TIME;
  for (int index = 0; index < load.count; index++) {
    struct session *session = &load.sessions[index];
    if (session->unacknowledged > 0 && (all || session->ack_due <= next)) send_ack(session);
  }
}

// ---- TEXT messages of the gate

static uint64_t number_in(struct session *session, const char *name) {
  const char *found = strstr(session->text, name);
  if (found == NULL) die("session %d: no %s in %s", session->number, name, session->text);
  return strtoull(found + strlen(name), NULL, 10);
}

static void greeted(struct session *session) {
  struct stay *stay = stay_of(session->number);
  const char *id = strstr(session->text, "\"id\":\""), *next = strstr(session->text, "\"next\":\"");
  bool is_resumed = strstr(session->text, "\"resumed\":true") != NULL;
  if (session->stage != GREETING || id == NULL || next == NULL || is_resumed != (stay->id[0] != 0))
    die("session %d: greeted with %s", session->number, session->text);
  if (number_in(session, "\"received\":") != stay->sent)
    die("session %d: has sent %lu messages, and %s", session->number, stay->sent, session->text);
  memcpy(stay->id, id + strlen("\"id\":\""), ID);
  memcpy(stay->next, next + strlen("\"next\":\""), NONCE);
  session->stage = OPEN;
  if (is_resumed) send_ack(session);
}

void take_text(struct session *session, const unsigned char *data, size_t count) {
  if (session->text == NULL) session->text = calloc(1, TEXT_MAXIMUM);
  if (session->text == NULL) die("calloc");
  if (session->text_count + count >= TEXT_MAXIMUM) die("session %d: a text of more than 1 KiB", session->number);
  memcpy(session->text + session->text_count, data, count);
  session->text_count += count;
}

static bool is_type(const struct session *session, const char *start) {
  return strncmp(session->text, start, strlen(start)) == 0;
}

void end_text(struct session *session, payload_taker *taker) {
  if (session->text == NULL) die("session %d: an empty text", session->number);
  size_t count = session->text_count;
  session->text[count] = 0;
  session->text_count = 0;
  if (is_type(session, "{\"type\":\"session\"")) {
    greeted(session);
  } else if (is_type(session, "{\"type\":\"ack\"")) {
    if (number_in(session, "\"received\":") > stay_of(session->number)->sent)
      die("session %d: %s", session->number, session->text);
  } else if (is_type(session, "{\"type\":\"gmcp\"")) {
    note_bytes(session, count);
    taker(session, (unsigned char *)session->text, count);
    note_message(session);
  } else if (session->stage != LEAVING) {
    die("session %d: nobody has asked for %s", session->number, session->text);
  }
}

// ---- leaving

// Without a Close, as when the network is gone.
void cut_sessions(void) {
  for (int index = 0; index < load.count; index++) end_session(&load.sessions[index]);
  free(load.sessions);
  load.sessions = NULL;
  load.count = 0;
}

// Few are there at once, so that what a connection needs is not in what the stays are found to keep.
void run_detach(int count, int at_once) {
  struct session *sessions = calloc((size_t)count, sizeof *sessions);
  if (sessions == NULL) die("calloc");
  begin_run(LINES);
  int started = 0, ended = 0;
  while (ended < count) {
    for (; started < count && started - ended < at_once; started++)
      start_session(&sessions[started], started, source_address(started, 100), NULL);
    struct epoll_event events[MAXIMUM_EVENTS];
    int found = epoll_wait(load.poller, events, MAXIMUM_EVENTS, 20000);
    if (found == 0) die("%d of %d stays are left, and nothing happens", ended, count);
    for (int index = 0; index < found; index++) {
      struct session *session = events[index].data.ptr;
      if (session->stage != OPEN) {
        advance(session);
        if (session->stage == OPEN) send_message(session, monotonic_ns());
        continue;
      }
      take_input(session, take_echo);
      if (session->received == 0) continue;
      send_ack(session);
      end_session(session);
      ended++;
    }
  }
  free(sessions);
}

// ---- events

static size_t agreed;

static void take_agreement(struct session *session, const unsigned char *data, size_t count) {
  (void)session;
  (void)data;
  agreed += count;
}

// The game's word for it is one line for each session.
void agree_on_events(void) {
  static const unsigned char line[] = "WILL GMCP\r\n";
  unsigned char frame[32];
  size_t size = client_frame(frame, 2, line, sizeof line - 1), wanted = strlen("ready\r\n") * (size_t)load.count;
  agreed = 0;
  for (int index = 0; index < load.count; index++) {
    write_all(&load.sessions[index], frame, size);
    note_sent(&load.sessions[index]);
  }
  while (agreed < wanted)
    if (!wait_until(0, take_agreement)) die("no agreement on GMCP");
}
