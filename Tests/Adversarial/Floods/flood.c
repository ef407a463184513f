/* The hostile side: as many connections as asked for, each of which does the same over and over, with no more than a
 * share of one core.
 *
 *   connects     connect, and close at once
 *   handshakes   a recorded ClientHello with a good key share, gone once the ServerHello is there
 *   challenges   GET /attest/challenge; with --forwarded N in the name of N addresses
 *   registers    a fresh challenge, then --body with that nonce: valid CBOR, bad chain
 *   forgeries    a fresh challenge, then an upgrade for a known key with a signature over something else
 *   requests     GET /healthz, a socket full of them at once
 *   updates      a request that does not end, 31 KeyUpdates in front of each byte
 *   crumbs       the body of a registration in TLS records of one byte
 *   pings, bytes, fragments, bombs   frames without end on admitted sessions
 *   clients, acks, unknowns, lines   messages of portcullis.v1 without end, behind a game that has asked all it can
 *   malformed    a session of portcullis.v1, a message that is no object, the gate's Close, and again
 *   resumes      the session of one key over one connection after the other, each of which drops the one before
 *
 * Runs until its standard input ends; prints one JSON object. */
#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

enum kind {
  CONNECTS, HANDSHAKES, CHALLENGES, REGISTERS, FORGERIES, REQUESTS, UPDATES, CRUMBS,
  /* From here on by sessions. */
  PINGS, BYTES, FRAGMENTS, BOMBS,
  /* And from here on by those of portcullis.v1. */
  CLIENTS, ACKS, UNKNOWNS, LINES, MALFORMED, RESUMES,
  KINDS
};
static const char *const kinds[KINDS] = {"connects",  "handshakes", "challenges", "registers", "forgeries", "requests",
                                         "updates",   "crumbs",     "pings",      "bytes",     "fragments", "bombs",
                                         "clients",   "acks",       "unknowns",   "lines",     "malformed", "resumes"};

enum stage { CONNECTING, GREETED, SHAKING, ASKING, TELLING, NAMED, POURING };

struct attacker {
  int descriptor;
  SSL *tls;
  enum stage stage;
  struct device *device;
  struct answer answer;
  size_t poured;
  unsigned updated;
  /* Of the session to go on with; empty for none. */
  char session[23];
};

static enum kind kind;
static struct network network;
static SSL_CTX *context;
static int epoll;
static struct device devices[256];
static size_t device_count, next_device;
static unsigned char app_hash[32];
static unsigned long forwarded, done, failed;
static char *body;
static unsigned char hello[2048];
static size_t hello_length;
/* What is poured over a session or a connection, again and again from its beginning. */
static unsigned char *pool;
static size_t pool_length;

/* ---- what is sent */

static void record_hello(void) {
  SSL *tls = SSL_new(context);
  SSL_set_connect_state(tls);
  BIO *out = BIO_new(BIO_s_mem());
  SSL_set_bio(tls, BIO_new(BIO_s_mem()), out);
  SSL_do_handshake(tls);
  int length = BIO_read(out, hello, sizeof hello);
  if (length <= 0) fail("no ClientHello");
  hello_length = (size_t)length;
  SSL_free(tls);
}

static void fill_pool(const void *unit, size_t length, size_t total) {
  pool_length = total / length * length;
  pool = malloc(pool_length);
  if (!pool) fail("no memory");
  for (size_t at = 0; at < pool_length; at += length) memcpy(pool + at, unit, length);
}

/* A masked frame (with a mask of zeros, which leaves the payload as it is) of at most 125 bytes. */
static size_t write_frame(unsigned char *frame, unsigned char first, const void *payload, size_t length) {
  frame[0] = first;
  frame[1] = (unsigned char)(0x80 | length);
  memset(frame + 2, 0, 4);
  memcpy(frame + 6, payload, length);
  return 6 + length;
}

/* 65,536 zeros in a few bytes: the longest message that the gate takes, as RFC 7692 wants it. */
static size_t deflate_bomb(unsigned char *frame) {
  static unsigned char zeros[65536], packed[125];
  z_stream stream = {0};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) fail("deflateInit2");
  stream.next_in = zeros;
  stream.avail_in = sizeof zeros;
  stream.next_out = packed;
  stream.avail_out = sizeof packed;
  if (deflate(&stream, Z_SYNC_FLUSH) != Z_OK || stream.avail_out == 0) fail("deflate");
  size_t length = sizeof packed - stream.avail_out - 4;
  deflateEnd(&stream);
  return write_frame(frame, 0xC2, packed, length);
}

/* Two descriptions in turn, which differ in all that a game may have asked for. */
static void fill_with_clients(void) {
  static const char *const texts[2] = {
      "{\"type\":\"client\",\"name\":\"a\",\"features\":[\"truecolor\"],\"columns\":80,\"rows\":24,\"gmcp\":[\"Char 1\"]}",
      "{\"type\":\"client\",\"name\":\"b\",\"features\":[],\"columns\":99,\"rows\":50,\"gmcp\":[\"Room 1\"]}"};
  unsigned char unit[2 * 131];
  size_t length = 0;
  for (int index = 0; index < 2; index++) length += write_frame(unit + length, 0x81, texts[index], strlen(texts[index]));
  fill_pool(unit, length, 16000);
}

static void fill_with(unsigned char first, const char *text) {
  unsigned char frame[131];
  fill_pool(frame, write_frame(frame, first, text, strlen(text)), 16000);
}

static void prepare(void) {
  unsigned char frame[256];
  static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  switch (kind) {
  case HANDSHAKES: record_hello(); break;
  case REQUESTS: fill_pool(request, sizeof request - 1, 16000); break;
  case PINGS: fill_pool(frame, write_frame(frame, 0x89, "", 0), 16000); break;
  case BYTES: fill_pool(frame, write_frame(frame, 0x82, "x", 1), 16000); break;
  /* The first frame begins a message, those after it add nothing and never end it. */
  case FRAGMENTS: fill_pool(frame, write_frame(frame, 0x00, "", 0), 16000); break;
  case BOMBS: fill_pool(frame, deflate_bomb(frame), 16000); break;
  case CLIENTS: fill_with_clients(); break;
  case ACKS: fill_with(0x81, "{\"type\":\"ack\",\"received\":0}"); break;
  case UNKNOWNS: fill_with(0x81, "{\"type\":\"x\"}"); break;
  case LINES: fill_with(0x82, "\n"); break;
  default: break;
  }
}

/* ---- one attacker */

static void begin(struct attacker *attacker) {
  int descriptor;
  while ((descriptor = dial(&network)) < 0) {
    failed++;
    usleep(1000);
  }
  struct attacker fresh = {.descriptor = descriptor};
  memcpy(fresh.session, attacker->session, sizeof fresh.session);
  *attacker = fresh;
  watch(epoll, descriptor, attacker, true, true);
}

static void begin_again(struct attacker *attacker) {
  if (attacker->tls) SSL_free(attacker->tls);
  drop(attacker->descriptor);
  begin(attacker);
}

static bool send_text(struct attacker *attacker, const char *text, size_t length) {
  return send_all(attacker->tls, text, length) == READY;
}

static bool ask(struct attacker *attacker) {
  char request[256], field[64] = "";
  unsigned turn = network.turn++;
  if (forwarded) {
    unsigned address = (unsigned)(turn % forwarded);
    snprintf(field, sizeof field, "X-Forwarded-For: 198.%u.%u.%u\r\n", 18 + address / 65536, address / 256 % 256,
             address % 256);
  }
  int length = snprintf(request, sizeof request, "GET /attest/challenge HTTP/1.1\r\nHost: localhost\r\n%s\r\n", field);
  attacker->stage = ASKING;
  return send_text(attacker, request, (size_t)length);
}

static bool tell(struct attacker *attacker) {
  static char text[20000];
  char nonce[65];
  if (attacker->answer.status != 200 || !nonce_of(&attacker->answer, nonce)) return false;
  next_answer(&attacker->answer);
  size_t length;
  if (kind == REGISTERS) {
    char *place = strstr(body, "NONCE");
    int head = snprintf(text, sizeof text,
                        "POST /attest/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%.*s%s%s",
                        strlen(body) - 5 + 64, (int)(place - body), body, nonce, place + 5);
    length = (size_t)head;
  } else {
    char fields[160] = "";
    if (kind == BOMBS) strcpy(fields, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    if (kind >= CLIENTS) strcpy(fields, "Sec-WebSocket-Protocol: portcullis.v1\r\n");
    if (attacker->session[0])
      snprintf(fields + strlen(fields), sizeof fields - strlen(fields), "Portcullis-Resume: %s;received=0\r\n",
               attacker->session);
    if (kind == RESUMES) attacker->device = &devices[0];
    if (!attacker->device) attacker->device = &devices[next_device++ % device_count];
    length = write_upgrade(text, sizeof text, attacker->device, app_hash, nonce, kind == FORGERIES, fields);
  }
  attacker->stage = TELLING;
  return send_text(attacker, text, length);
}

/* The first message of portcullis.v1 names the session: what of it has come. */
static enum progress learn_session(struct attacker *attacker) {
  struct answer *answer = &attacker->answer;
  while (true) {
    answer->bytes[answer->length] = 0;
    /* A frame's header may have a zero byte. */
    char *id = memmem(answer->bytes, answer->length, "\"id\":\"", 6);
    if (id && id + 6 + 22 < answer->bytes + answer->length) {
      memcpy(attacker->session, id + 6, 22);
      return READY;
    }
    size_t room = sizeof answer->bytes - 1 - answer->length;
    if (room == 0) return BROKEN;
    int count = SSL_read(attacker->tls, answer->bytes + answer->length, (int)room);
    if (count <= 0) {
      int error = SSL_get_error(attacker->tls, count);
      return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? GOES_ON : BROKEN;
    }
    answer->length += (size_t)count;
  }
}

/* A message is begun before what never ends it; everything else pours at once. */
static bool begin_pouring(struct attacker *attacker) {
  static const char post[] = "POST /attest/register HTTP/1.1\r\nHost: localhost\r\n"
                             "Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n";
  unsigned char frame[16];
  attacker->stage = POURING;
  /* What lies in a long queue before the gate is not yet an attack. */
  int room = 64 * 1024;
  setsockopt(attacker->descriptor, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  watch(epoll, attacker->descriptor, attacker, kind != MALFORMED, false);
  if (kind == UPDATES) return send_text(attacker, "GET / HTTP/1.1\r\nX: ", 19);
  if (kind == CRUMBS) return send_text(attacker, post, sizeof post - 1);
  if (kind == FRAGMENTS) return send_all(attacker->tls, frame, write_frame(frame, 0x02, "x", 1)) == READY;
  if (kind == MALFORMED) return send_all(attacker->tls, frame, write_frame(frame, 0x81, "{", 1)) == READY;
  /* By this the game knows whom to ask. */
  if (kind >= CLIENTS) return send_all(attacker->tls, frame, write_frame(frame, 0x82, "T\n", 2)) == READY;
  return true;
}

/* The next of the records that bring a byte or nothing. */
static enum progress pour_record(struct attacker *attacker) {
  int result;
  if (kind == UPDATES && attacker->updated < 31) {
    /* A KeyUpdate that the socket did not take goes out with the next step of the handshake. */
    if (SSL_get_key_update_type(attacker->tls) == SSL_KEY_UPDATE_NONE)
      SSL_key_update(attacker->tls, SSL_KEY_UPDATE_REQUESTED);
    result = SSL_do_handshake(attacker->tls);
    attacker->updated += result == 1;
  } else {
    result = SSL_write(attacker->tls, "x", 1);
    if (result == 1) attacker->updated = 0;
  }
  done += result == 1;
  return result == 1 ? READY : SSL_get_error(attacker->tls, result) == SSL_ERROR_WANT_WRITE ? GOES_ON : BROKEN;
}

/* As much as the socket takes in one write; answers are thrown away unread, as only the gate needs to care. */
static bool pour(struct attacker *attacker, uint32_t events) {
  static char waste[65536];
  if (events & EPOLLIN) {
    ssize_t count = recv(attacker->descriptor, waste, sizeof waste, MSG_DONTWAIT);
    if (count == 0 && kind == MALFORMED) done++;
    if (count == 0 || (count < 0 && errno != EAGAIN)) return false;
  }
  if (!(events & EPOLLOUT) || kind == MALFORMED) return true;
  if (kind == UPDATES || kind == CRUMBS) {
    for (int count = 0; count < 64; count++) {
      enum progress progress = pour_record(attacker);
      if (progress != READY) return progress == GOES_ON;
    }
    return true;
  }
  size_t written = 0;
  int result = SSL_write_ex(attacker->tls, pool + attacker->poured, pool_length - attacker->poured, &written);
  if (result != 1) return SSL_get_error(attacker->tls, result) == SSL_ERROR_WANT_WRITE;
  attacker->poured += written;
  if (attacker->poured == pool_length) {
    attacker->poured = 0;
    done++;
  }
  return true;
}

/* With the name it goes, and the next connection asks for that. */
static bool named(struct attacker *attacker) {
  enum progress progress = learn_session(attacker);
  done += progress == READY;
  return progress == GOES_ON;
}

static bool answered(struct attacker *attacker) {
  enum progress progress = receive_answer(attacker->tls, &attacker->answer);
  if (progress == GOES_ON) return true;
  if (progress == BROKEN) return false;
  if (attacker->stage == ASKING && kind != CHALLENGES) return tell(attacker);
  if (kind == RESUMES && attacker->answer.status == 101) {
    next_answer(&attacker->answer);
    attacker->stage = NAMED;
    return named(attacker);
  }
  if (kind >= PINGS && attacker->answer.status != 101) {
    failed += kind == MALFORMED || kind == RESUMES;
    return false;
  }
  if (kind >= PINGS) return begin_pouring(attacker);
  int status = attacker->answer.status;
  if (status == (kind == CHALLENGES ? 200 : kind == REGISTERS ? 403 : 401)) done++;
  else failed++;
  next_answer(&attacker->answer);
  return ask(attacker);
}

static bool goes_on(struct attacker *attacker, uint32_t events) {
  switch (attacker->stage) {
  case CONNECTING:
    if (kind == CONNECTS) {
      done++;
      return false;
    }
    if (kind == HANDSHAKES) {
      watch(epoll, attacker->descriptor, attacker, false, false);
      attacker->stage = GREETED;
      return send(attacker->descriptor, hello, hello_length, MSG_NOSIGNAL) == (ssize_t)hello_length;
    }
    /* From here on only what comes is of interest. */
    watch(epoll, attacker->descriptor, attacker, false, false);
    attacker->tls = client_session(context, attacker->descriptor);
    attacker->stage = SHAKING;
    return shake_hands(attacker->tls) != BROKEN;
  case GREETED: {
    char first;
    if (recv(attacker->descriptor, &first, 1, MSG_DONTWAIT) == 1) done++;
    else failed++;
    return false;
  }
  case SHAKING:
    switch (shake_hands(attacker->tls)) {
    case GOES_ON: return true;
    case BROKEN: return false;
    case READY: break;
    }
    return kind >= REQUESTS && kind <= CRUMBS ? begin_pouring(attacker) : ask(attacker);
  case ASKING:
  case TELLING: return answered(attacker);
  case NAMED: return named(attacker);
  case POURING: return pour(attacker, events);
  }
  return false;
}

/* ---- the whole */

/* No more than `share` of the core since `start`. */
static void rest(uint64_t start, uint64_t start_cpu, double share) {
  uint64_t owed = (uint64_t)((double)(cpu_ns() - start_cpu) / share), spent = now_ns() - start;
  if (owed > spent) usleep((unsigned)((owed - spent) / 1000));
}

static bool input_ended(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&input, 1, 0) > 0 && input.revents & POLLHUP;
}

static const uint64_t LONGEST = 60000000000;

static void run(struct attacker *attackers, size_t count, double share, uint64_t rate) {
  uint64_t start = now_ns(), start_cpu = cpu_ns();
  size_t begun = 0;
  /* On a machine that stands still meanwhile, until there is something to be told. */
  while (!input_ended() || (done == 0 && now_ns() - start < LONGEST)) {
    for (size_t some = 0; some < 32 && begun < count; some++) begin(&attackers[begun++]);
    struct epoll_event events[32];
    int found = epoll_wait(epoll, events, COUNT(events), 10);
    for (int index = 0; index < found; index++) {
      struct attacker *attacker = events[index].data.ptr;
      if (goes_on(attacker, events[index].events)) continue;
      if (kind != CONNECTS && kind != HANDSHAKES && kind != MALFORMED && kind != RESUMES) failed++;
      begin_again(attacker);
    }
    rest(start, start_cpu, share);
    while (rate && done > rate * (now_ns() - start) / 1000000000) usleep(100);
  }
  double seconds = (double)(now_ns() - start) / 1e9;
  printf("{\"done\":%lu,\"failed\":%lu,\"seconds\":%.3f,\"share\":%.3f,\"bytes\":%zu}\n", done, failed, seconds,
         (double)(cpu_ns() - start_cpu) / 1e9 / seconds, pool_length);
}

static void read_body(const char *path) {
  FILE *file = fopen(path, "r");
  body = calloc(1, 16384);
  if (!file || !body || fread(body, 1, 16383, file) == 0 || !strstr(body, "NONCE")) fail("no body with a NONCE");
  fclose(file);
}

int main(int argc, char **argv) {
  const char *name = option(argc, argv, "attack", NULL);
  while (kind < KINDS && strcmp(kinds[kind], name) != 0) kind++;
  if (kind == KINDS) fail("no such attack");
  network = network_of(argc, argv, "1");
  context = client_context();
  app_hash_of(option(argc, argv, "app", ""), app_hash);
  forwarded = (unsigned long)atol(option(argc, argv, "forwarded", "0"));
  if (kind == REGISTERS) read_body(option(argc, argv, "body", NULL));
  if (kind == FORGERIES || kind >= PINGS) {
    uint32_t counter = (uint32_t)atol(option(argc, argv, "counter", "0"));
    device_count = load_devices(option(argc, argv, "devices", NULL), devices, COUNT(devices), counter);
  }
  prepare();
  size_t count = (size_t)atol(option(argc, argv, "connections", "100"));
  struct attacker *attackers = calloc(count, sizeof *attackers);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (!attackers || epoll < 0) fail("cannot begin");
  run(attackers, count, atof(option(argc, argv, "share", "0.45")), (uint64_t)atol(option(argc, argv, "rate", "0")));
  return 0;
}
