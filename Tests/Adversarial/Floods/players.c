/* The honest side of a flood: ten sessions that send 64 bytes and wait for them to come back, and newcomers at a steady
 * pace, each of which asks for a challenge, is admitted and leaves.
 *
 * Prints "ready" once the sessions are open, begins to measure at a line on its standard input, and prints one JSON
 * object after `--seconds`. Whatever was due counts from the moment it was due, so that a stall shows in all that had
 * to wait for it. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { SESSIONS = 10, MESSAGE = 64, FRAME = 6 + MESSAGE, NEWCOMERS = 512, SAMPLES = 1 << 20 };
static const uint64_t message_gap = 20000000, patience = 10000000000;

enum stage { FREE, CONNECTING, SHAKING, ASKING, UPGRADING, PLAYING };

struct player {
  enum stage stage;
  int descriptor;
  SSL *tls;
  struct device *device;
  struct answer answer;
  uint64_t due;
  bool waits;
  size_t echoed;
};

struct tally {
  uint32_t *samples;
  size_t count;
  size_t lost, refused, offered;
};

static struct player sessions[SESSIONS], newcomers[NEWCOMERS];
static struct device devices[1024];
static size_t device_count, next_device;
static struct network network;
static SSL_CTX *context;
static unsigned char app_hash[32];
static int epoll;
static struct tally messages, admissions;
static bool is_measuring;

static void count(struct tally *tally, uint64_t due) {
  if (!is_measuring) return;
  if (tally->count == SAMPLES) fail("too many samples");
  tally->samples[tally->count++] = (uint32_t)((now_ns() - due) / 1000);
}

/* ---- coming in */

static struct device *free_device(void) {
  for (size_t tried = 0; tried < device_count; tried++) {
    struct device *device = &devices[next_device++ % device_count];
    if (!device->is_busy) return device;
  }
  return NULL;
}

static bool begin(struct player *player, uint64_t due) {
  struct device *device = free_device();
  int descriptor = device ? dial(&network) : -1;
  if (descriptor < 0) return false;
  device->is_busy = true;
  SSL *tls = client_session(context, descriptor);
  *player = (struct player){.stage = CONNECTING, .descriptor = descriptor, .device = device, .tls = tls, .due = due};
  watch(epoll, descriptor, player, true, true);
  return true;
}

static void leave(struct player *player, bool politely) {
  static const unsigned char goodbye[] = {0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8};
  if (politely && send_all(player->tls, goodbye, sizeof goodbye) == READY) SSL_shutdown(player->tls);
  SSL_free(player->tls);
  close(player->descriptor);
  player->device->is_busy = false;
  player->stage = FREE;
}

static enum progress ask(struct player *player) {
  static const char request[] = "GET /attest/challenge HTTP/1.1\r\nHost: localhost\r\n\r\n";
  player->stage = ASKING;
  return send_all(player->tls, request, sizeof request - 1) == READY ? GOES_ON : BROKEN;
}

static enum progress upgrade(struct player *player) {
  char nonce[65], request[2048];
  if (player->answer.status != 200 || !nonce_of(&player->answer, nonce)) return BROKEN;
  next_answer(&player->answer);
  size_t length = write_upgrade(request, sizeof request, player->device, app_hash, nonce, false, "");
  player->stage = UPGRADING;
  return send_all(player->tls, request, length) == READY ? GOES_ON : BROKEN;
}

/* One step towards 101; READY when it is there. */
static enum progress come_in(struct player *player) {
  if (player->stage == CONNECTING) {
    /* From here on only what comes is of interest. */
    watch(epoll, player->descriptor, player, false, false);
    player->stage = SHAKING;
  }
  if (player->stage == SHAKING) {
    enum progress progress = shake_hands(player->tls);
    return progress == READY ? ask(player) : progress;
  }
  enum progress progress = receive_answer(player->tls, &player->answer);
  if (progress != READY) return progress;
  if (player->stage == ASKING) return upgrade(player);
  if (player->answer.status != 101) return BROKEN;
  player->stage = PLAYING;
  return READY;
}

/* ---- newcomers */

static void newcomer_goes_on(struct player *player) {
  enum progress progress = come_in(player);
  if (progress == GOES_ON) return;
  if (progress == READY) {
    count(&admissions, player->due);
  } else if (is_measuring) {
    if (player->answer.status >= 400) {
      fprintf(stderr, "refused: %.*s\n", (int)strcspn(player->answer.bytes, "\r"), player->answer.bytes);
      admissions.refused++;
    } else {
      admissions.lost++;
    }
  }
  leave(player, progress == READY);
}

static void next_newcomer(uint64_t due) {
  if (is_measuring) admissions.offered++;
  for (size_t index = 0; index < NEWCOMERS; index++) {
    if (newcomers[index].stage != FREE) continue;
    if (!begin(&newcomers[index], due) && is_measuring) admissions.lost++;
    return;
  }
  if (is_measuring) admissions.lost++;
}

static void give_up_newcomers(uint64_t now) {
  for (size_t index = 0; index < NEWCOMERS; index++) {
    if (newcomers[index].stage == FREE || newcomers[index].due + patience > now) continue;
    if (is_measuring) admissions.lost++;
    leave(&newcomers[index], false);
  }
}

/* ---- sessions */

static void say(struct player *player, uint64_t due) {
  unsigned char frame[FRAME] = {0x82, 0x80 | MESSAGE};
  memset(frame + 6, 'E', MESSAGE);
  player->due = due;
  player->waits = true;
  if (send_all(player->tls, frame, sizeof frame) != READY) fail("a session was dropped while it spoke");
}

static void session_goes_on(struct player *player) {
  if (player->stage != PLAYING) {
    if (come_in(player) == BROKEN) fail("a session was not admitted");
    return;
  }
  unsigned char bytes[512];
  int length;
  while ((length = SSL_read(player->tls, bytes, sizeof bytes)) > 0) {
    /* Frames from the gate carry 64 bytes at most here; only their payload is 'E's. */
    for (int index = 0; index < length; index++) player->echoed += bytes[index] == 'E';
  }
  if (SSL_get_error(player->tls, length) != SSL_ERROR_WANT_READ) {
    messages.lost++;
    fail("a session was dropped");
  }
  if (!player->waits || player->echoed < MESSAGE) return;
  player->waits = false;
  player->echoed -= MESSAGE;
  count(&messages, player->due);
}

/* Each session has its own moments; one that waits longer than the gap is late with the next, and that counts. */
static void sessions_speak(uint64_t now) {
  for (size_t index = 0; index < SESSIONS; index++) {
    struct player *player = &sessions[index];
    if (player->stage == PLAYING && !player->waits && player->due + message_gap <= now)
      say(player, player->due + message_gap);
  }
}

/* ---- the whole */

static void serve_events(int milliseconds) {
  struct epoll_event events[64];
  int found = epoll_wait(epoll, events, COUNT(events), milliseconds);
  for (int index = 0; index < found; index++) {
    struct player *player = events[index].data.ptr;
    if (player >= sessions && player < sessions + SESSIONS) session_goes_on(player);
    else if (player->stage != FREE) newcomer_goes_on(player);
  }
}

static void open_sessions(void) {
  for (size_t index = 0; index < SESSIONS; index++) {
    if (!begin(&sessions[index], now_ns())) fail("no session can be opened");
    while (sessions[index].stage != PLAYING) serve_events(100);
  }
}

static const uint64_t LONGEST = 60000000000;

static void play(uint64_t seconds, uint64_t newcomer_gap) {
  uint64_t start = now_ns(), end = start + seconds * 1000000000, newcomer_due = start;
  for (size_t index = 0; index < SESSIONS; index++)
    sessions[index].due = start - message_gap + index * message_gap / SESSIONS;
  is_measuring = true;
  /* On a machine that stands still meanwhile, until there is something to be told. */
  for (uint64_t now = start; now < end || (now < start + LONGEST && !(messages.count && admissions.count));
       now = now_ns()) {
    sessions_speak(now);
    while (newcomer_due <= now) {
      next_newcomer(newcomer_due);
      newcomer_due += newcomer_gap;
    }
    give_up_newcomers(now);
    serve_events(1);
  }
  /* A message that is still out has waited so long at least. */
  for (size_t index = 0; index < SESSIONS; index++)
    if (sessions[index].waits) count(&messages, sessions[index].due);
}

static int by_size(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static void print_tally(const char *name, struct tally *tally, const char *end) {
  qsort(tally->samples, tally->count, sizeof *tally->samples, by_size);
  size_t last = tally->count ? tally->count - 1 : 0;
  printf("\"%s\":{\"done\":%zu,\"offered\":%zu,\"lost\":%zu,\"refused\":%zu,\"p50\":%u,\"p99\":%u,\"max\":%u}%s", name,
         tally->count, tally->offered, tally->lost, tally->refused, tally->samples[last / 2],
         tally->samples[last * 99 / 100], tally->samples[last], end);
}

int main(int argc, char **argv) {
  network = network_of(argc, argv, "2");
  context = client_context();
  app_hash_of(option(argc, argv, "app", NULL), app_hash);
  uint32_t counter = (uint32_t)atol(option(argc, argv, "counter", "0"));
  device_count = load_devices(option(argc, argv, "devices", NULL), devices, COUNT(devices), counter);
  uint64_t rate = (uint64_t)atol(option(argc, argv, "admissions", "25"));
  uint64_t seconds = (uint64_t)atol(option(argc, argv, "seconds", "8"));
  messages.samples = calloc(SAMPLES, sizeof *messages.samples);
  admissions.samples = calloc(SAMPLES, sizeof *admissions.samples);
  epoll = epoll_create1(EPOLL_CLOEXEC);
  if (!messages.samples || !admissions.samples || epoll < 0 || rate == 0) fail("cannot begin");
  open_sessions();
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  play(seconds, 1000000000 / rate);
  printf("{");
  print_tally("messages", &messages, ",");
  print_tally("admissions", &admissions, "}\n");
  return 0;
}
