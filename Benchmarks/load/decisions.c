// Approvals: a service that asks for them, and phones that decide, over connections that are kept (docs/approvals.md,
// "Requests"). What a phone signs is signed beforehand.
#define _GNU_SOURCE
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/sha.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "load.h"

// Seconds that an approval is open, as the bench's policy says; and how many for a phone, as the gate has it.
enum { OPEN_SECONDS = 300, OPEN_FOR_PHONE = 2, IDENTIFIER = 16, CONNECTIONS = 256 };

struct phone {
  char id[37], subject[32], *token;
  EVP_PKEY *key;
};

static struct {
  unsigned char server[IDENTIFIER];
  char service_token[128];
  struct phone *phones;
  int count;
  // A decision for each approval that is open.
  char **requests;
  int request_count, first_requester;
} desk;

// ---- what phones have

static void bytes_of(const char *digits, unsigned char *bytes, int count) {
  for (int index = 0; index < count; index++, digits += 2) {
    unsigned value;
    if (*digits == '-') digits++;
    if (sscanf(digits, "%2x", &value) != 1) die("no bytes: %s", digits);
    bytes[index] = (unsigned char)value;
  }
}

static EVP_PKEY *key_of(const char *scalar, const char *point) {
  unsigned char private[32], public[65];
  bytes_of(scalar, private, sizeof private);
  bytes_of(point, public, sizeof public);
  BIGNUM *number = BN_bin2bn(private, sizeof private, NULL);
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0);
  OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, public, sizeof public);
  OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number);
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  EVP_PKEY *key = NULL;
  if (EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1)
    die("a phone's key");
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  BN_free(number);
  return key;
}

void read_phones(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) die("%s", path);
  char server[64], token[2048], scalar[65], point[131];
  if (fscanf(file, "%63s %127s", server, desk.service_token) != 2) die("%s: no service", path);
  bytes_of(server, desk.server, IDENTIFIER);
  struct phone phone;
  while (fscanf(file, "%36s %31s %2047s %64s %130s", phone.id, phone.subject, token, scalar, point) == 5) {
    phone.token = strdup(token);
    phone.key = key_of(scalar, point);
    desk.phones = realloc(desk.phones, (size_t)(desk.count + 1) * sizeof *desk.phones);
    if (phone.token == NULL || desk.phones == NULL) die("realloc");
    desk.phones[desk.count++] = phone;
  }
  fclose(file);
  printf("{\"phones\": %d}\n", desk.count);
}

// ---- requests over connections that are kept, one under way on each

struct round {
  int total, status;
  double rate;  // 0: each connection sends when it has its answer
  const char *(*text)(int number);
  void (*answered)(int number, const char *response);
};

static void open_connections(struct session *sessions, int count) {
  static int first = 2000000;
  int open = 0;
  for (int index = 0; index < count; index++)
    // The queue is shared out by address.
    start_session(&sessions[index], index, source_address(first++, 1), NULL);
  while (open < count) {
    struct epoll_event events[MAXIMUM_EVENTS];
    int found = epoll_wait(load.poller, events, MAXIMUM_EVENTS, 20000);
    if (found == 0) die("%d of %d connections are open, and nothing happens", open, count);
    for (int index = 0; index < found; index++) {
      struct session *session = events[index].data.ptr;
      if (session->stage == OPEN) continue;  // tickets, which the first answer's reading takes
      advance(session);
      if (session->stage == OPEN) open++;
    }
  }
}

static uint64_t due_time(const struct round *round, uint64_t started, int number) {
  return round->rate > 0 ? started + (uint64_t)(number * 1e9 / round->rate) : 0;
}

// Set by SIGCONT: the bench has had this process stand still for a while.
static volatile sig_atomic_t was_paused;
static void note_pause(int signal) {
  (void)signal;
  was_paused = 1;
}

static void run_round(const struct round *round, int at_once) {
  // In turn, as the gate closes those that are quiet for long.
  struct session sessions[CONNECTIONS], *idle[CONNECTIONS];
  if (at_once > CONNECTIONS) die("at most %d connections", CONNECTIONS);
  open_connections(sessions, at_once);
  int sent = 0, done = 0;
  for (int index = 0; index < at_once; index++) idle[index] = &sessions[index];
  samples_reset();
  signal(SIGCONT, note_pause);
  uint64_t processor = processor_ns(), began = monotonic_ns(), started = began, now = began;
  while (done < round->total) {
    uint64_t before = now;
    now = monotonic_ns();
    // What was due meanwhile is not owed.
    if (was_paused) started += now - before;
    was_paused = 0;
    for (; sent < round->total && sent - done < at_once && due_time(round, started, sent) <= now; sent++) {
      struct session *session = idle[sent % at_once];
      const char *text = round->text(sent);
      session->sent = (uint64_t)sent;
      session->started = round->rate > 0 ? due_time(round, started, sent) : monotonic_ns();
      write_all(session, (const unsigned char *)text, strlen(text));
    }
    uint64_t left = 10000000000;
    if (sent < round->total && sent - done < at_once) {
      uint64_t due = due_time(round, started, sent);
      now = monotonic_ns();
      left = due > now ? due - now : 0;
    }
    struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
    struct epoll_event events[MAXIMUM_EVENTS];
    int found = epoll_pwait2(load.poller, events, MAXIMUM_EVENTS, &timeout, NULL);
    if (found == 0 && left == 10000000000) die("%d of %d are answered, and nothing happens", done, round->total);
    for (int index = 0; index < found; index++) {
      struct session *session = events[index].data.ptr;
      int status;
      const char *response = take_response(session, &status);
      if (response == NULL) continue;
      if (status != round->status) die("answered with:\n%s", response);
      sample(monotonic_ns() - session->started);
      round->answered((int)session->sent, response);
      idle[done++ % at_once] = session;
    }
  }
  double seconds = (double)(monotonic_ns() - began) / 1e9;
  printf("{\"seconds\": %.6f, \"done\": %d, \"own_share\": %.4f, ", seconds, done,
         (double)(processor_ns() - processor) / 1e9 / seconds);
  samples_print(stdout);
  printf("}\n");
  for (int index = 0; index < at_once; index++) {
    SSL_shutdown(sessions[index].tls);
    end_session(&sessions[index]);
  }
}

// ---- the service

// Two may be open for a requester: each has a name that nobody had before.
static const char *ask_text(int number) {
  static char text[1024], body[512];
  int length = snprintf(
      body, sizeof body,
      "{\"operation\":\"promote\",\"target\":{\"player\":\"gandalf\"},\"text\":\"Gandalf becomes a wizard.\","
      "\"subject\":\"%s\",\"requester\":{\"id\":\"requester-%d\"}}",
      desk.phones[number % desk.count].subject, desk.first_requester + number);
  snprintf(text, sizeof text,
           "POST /approvals HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
           "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
           desk.service_token, length, body);
  return text;
}

static size_t put(unsigned char *out, size_t used, const void *field, size_t count) {
  for (int shift = 24; shift >= 0; shift -= 8) out[used++] = (unsigned char)(count >> shift);
  memcpy(out + used, field, count);
  return used + count;
}

static size_t put_time(unsigned char *out, size_t used, long seconds) {
  unsigned char bytes[8];
  for (int index = 0; index < 8; index++) bytes[index] = (unsigned char)((uint64_t)seconds >> (56 - 8 * index));
  return put(out, used, bytes, sizeof bytes);
}

// The summary as the gate makes it, which it would tell the phone.
static void hash_summary(const char *subject, int requester, long created_at, unsigned char *hash) {
  char text[1024];
  int length = snprintf(
      text, sizeof text,
      "{\"created_at\":%ld,\"operation\":\"promote\",\"policy\":{\"factors\":[\"device\"],"
      "\"level\":\"app_attested\",\"quorum\":1,\"uv\":\"app\"},\"requester\":{\"id\":\"requester-%d\"},"
      "\"service\":\"mud\",\"subject\":\"%s\",\"target\":{\"player\":\"gandalf\"},"
      "\"text\":\"Gandalf becomes a wizard.\",\"v\":1}",
      created_at, requester, subject);
  SHA256((unsigned char *)text, (size_t)length, hash);
}

static void sign_message(EVP_PKEY *key, const unsigned char *message, size_t count, char *base64) {
  unsigned char signature[72];
  size_t length = sizeof signature;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  if (EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) != 1 ||
      EVP_DigestSign(context, signature, &length, message, count) != 1)
    die("signing");
  EVP_MD_CTX_free(context);
  EVP_EncodeBlock((unsigned char *)base64, signature, (int)length);
}

// The phone's answer, ready to be sent.
static void keep_approval(int number, const char *response) {
  char id[37], code[8];
  long expires_at;
  const char *body = strstr(response, "{\"id\":\"");
  if (body == NULL ||
      sscanf(body, "{\"id\":\"%36[^\"]\",\"match_code\":\"%7[^\"]\",\"expires_at\":%ld}", id, code, &expires_at) != 3)
    die("not an approval: %s", response);
  const struct phone *phone = &desk.phones[number % desk.count];
  long now = (long)time(NULL);
  unsigned char message[512], bytes[IDENTIFIER], hash[SHA256_DIGEST_LENGTH];
  size_t used = put(message, 0, "portcullis/approval/v1", strlen("portcullis/approval/v1"));
  used = put(message, used, desk.server, IDENTIFIER);
  bytes_of(id, bytes, IDENTIFIER);
  used = put(message, used, bytes, IDENTIFIER);
  bytes_of(phone->id, bytes, IDENTIFIER);
  used = put(message, used, bytes, IDENTIFIER);
  used = put(message, used, "\x01", 1);
  hash_summary(phone->subject, desk.first_requester + number, expires_at - OPEN_SECONDS, hash);
  used = put(message, used, hash, sizeof hash);
  used = put(message, used, code, strlen(code));
  used = put_time(message, used, now);
  used = put_time(message, used, expires_at);
  char signature[128], body_text[512], *text;
  sign_message(phone->key, message, used, signature);
  int length = snprintf(
      body_text, sizeof body_text,
      "{\"device_id\":\"%s\",\"decision\":\"approve\",\"match_code\":\"%s\",\"issued_at\":%ld,\"signature\":\"%s\"}",
      phone->id, code, now, signature);
  if (asprintf(&text,
               "POST /approvals/%s/decision HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
               "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
               id, phone->token, length, body_text) < 0)
    die("asprintf");
  desk.requests[number] = text;
}

void run_asks(int count, int at_once) {
  if (count > desk.count * OPEN_FOR_PHONE) die("%d phones cannot have so many open", desk.count);
  if (desk.request_count != 0) die("there are decisions that were not sent");
  desk.requests = calloc((size_t)count, sizeof *desk.requests);
  if (desk.requests == NULL) die("calloc");
  const struct round round = {.total = count, .status = 201, .text = ask_text, .answered = keep_approval};
  run_round(&round, at_once);
  desk.request_count = count;
  desk.first_requester += count;
}

// ---- the phones

static const char *decision_text(int number) { return desk.requests[number]; }

static void decided(int number, const char *response) {
  if (strstr(response, "\"state\":\"approved\"") == NULL) die("not approved: %s", response);
  free(desk.requests[number]);
}

void run_decisions(int at_once, double rate) {
  const struct round round = {
      .total = desk.request_count, .status = 200, .rate = rate, .text = decision_text, .answered = decided};
  run_round(&round, at_once);
  free(desk.requests);
  desk.requests = NULL;
  desk.request_count = 0;
}
