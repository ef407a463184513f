// What goes through open sessions: echoes at a fixed rate or in a closed loop, and bulk from the game.
#define _GNU_SOURCE
#include <string.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

#include "load.h"

static struct {
  enum content content;
  size_t size;  // of a message
  uint64_t sent, received, bulk_wanted, bulk_received;
  uint64_t late;  // sent more than a millisecond after they were due
  bool is_closed_loop;
  uint64_t until;
} run;

// An event as app and gate say it; of its package and data telnet makes 64 bytes.
#define EVENT                                                                                               \
  "{\"type\":\"gmcp\",\"package\":\"Char.Vitals\","                                                          \
  "\"data\":{\"hp\":1234,\"maxhp\":2000,\"n\":\"0123456789abcdef\"}}"
enum { EVENT_SIZE = sizeof EVENT - 1, DIGITS = 16, LARGEST = 128 };
_Static_assert(EVENT_SIZE <= LARGEST, "a message has room");

static void write_digits(unsigned char *out, uint64_t number) {
  for (int place = 0; place < DIGITS; place++) out[place] = "0123456789abcdef"[number >> (60 - 4 * place) & 15];
}

// Every message says which it is, so that one that is lost, doubled or out of order shows.
static void compose(unsigned char *payload, uint64_t sequence) {
  switch (run.content) {
  case BYTES:
    memset(payload, 'm', PAYLOAD);
    memcpy(payload, &sequence, sizeof sequence);
    break;
  case LINES:
    memset(payload, 'm', PAYLOAD);
    write_digits(payload, sequence);
    memcpy(payload + PAYLOAD - 2, "\r\n", 2);
    break;
  case EVENTS:
    memcpy(payload, EVENT, EVENT_SIZE);
    write_digits(payload + EVENT_SIZE - strlen("\"}}") - DIGITS, sequence);
    break;
  }
}

void send_message(struct session *session, uint64_t due) {
  unsigned char payload[LARGEST], frame[LARGEST + 16];
  if (session->due == NULL) session->due = calloc(OUTSTANDING, sizeof *session->due);
  if (session->due_count == OUTSTANDING)
    die("session %d: %d messages without an echo", session->number, OUTSTANDING);
  session->due[(session->due_first + session->due_count++) % OUTSTANDING] = due;
  compose(payload, session->sent++);
  run.sent++;
  if (load.settings.protocol >= WEBSOCKET) {
    write_all(session, frame, client_frame(frame, run.content == EVENTS ? 1 : 2, payload, run.size));
    if (load.settings.protocol == RESUMABLE) note_sent(session);
  } else {
    write_all(session, payload, run.size);
  }
}

void take_echo(struct session *session, const unsigned char *data, size_t count) {
  unsigned char expected[LARGEST];
  while (count > 0) {
    size_t position = session->bytes_received % run.size;
    size_t part = run.size - position < count ? run.size - position : count;
    compose(expected, session->received);
    if (memcmp(data, expected + position, part) != 0)
      die("session %d: not the message that was sent", session->number);
    session->bytes_received += part;
    data += part;
    count -= part;
    if (position + part < run.size) return;
    if (session->due_count == 0) die("session %d: an echo of nothing", session->number);
    session->received++;
    run.received++;
    uint64_t now = monotonic_ns(), due = session->due[session->due_first];
    session->due_first = (session->due_first + 1) % OUTSTANDING;
    session->due_count--;
    sample(now - due);
    if (run.is_closed_loop && now < run.until) send_message(session, now);
  }
}

static void take_bulk(struct session *session, const unsigned char *data, size_t count) {
  (void)data;
  session->bytes_received += count;
  run.bulk_received += count;
}

bool wait_until(uint64_t moment, payload_taker *taker) {
  struct epoll_event events[MAXIMUM_EVENTS];
  uint64_t now = monotonic_ns(), left = 10000000000;
  if (moment != 0) left = moment > now ? moment - now : 0;
  struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
  int count = epoll_pwait2(load.poller, events, MAXIMUM_EVENTS, &timeout, NULL);
  for (int index = 0; index < count; index++) take_input(events[index].data.ptr, taker);
  if (load.settings.protocol == RESUMABLE) acknowledge(false);
  return count > 0;
}

static void print_run(uint64_t started, uint64_t processor, uint64_t drained) {
  double seconds = (double)(drained - started) / 1e9;
  printf("{\"seconds\": %.6f, \"sent\": %lu, \"received\": %lu, \"bytes\": %lu, ", seconds, run.sent,
         run.received, run.received * PAYLOAD + run.bulk_received);
  printf("\"late_share\": %.4f, ", run.sent > 0 ? (double)run.late / (double)run.sent : 0);
  printf("\"own_share\": %.4f, ", (double)(processor_ns() - processor) / 1e9 / seconds);
  samples_print(stdout);
  printf("}\n");
}

void begin_run(enum content content) {
  memset(&run, 0, sizeof run);
  run.content = content;
  run.size = content == EVENTS ? EVENT_SIZE : PAYLOAD;
  samples_reset();
}

// With a rate: message k is due at k/rate after the start, and its latency counts from then, however late it
// went out. Without one: each session sends its next message when it has the echo of the one before.
void run_echo(enum content content, double seconds, double rate) {
  begin_run(content);
  uint64_t processor = processor_ns(), started = monotonic_ns();
  run.until = started + (uint64_t)(seconds * 1e9);
  run.is_closed_loop = rate == 0;
  if (run.is_closed_loop) {
    for (int index = 0; index < load.count; index++) send_message(&load.sessions[index], monotonic_ns());
    while (monotonic_ns() < run.until) wait_until(run.until, take_echo);
  } else {
    uint64_t total = (uint64_t)(seconds * rate);
    for (uint64_t index = 0; index < total;) {
      uint64_t due = started + (uint64_t)((double)index * 1e9 / rate);
      uint64_t now = monotonic_ns();
      if (now >= due) {
        run.late += now - due > 1000000;
        send_message(&load.sessions[index++ % (uint64_t)load.count], due);
        // When many are overdue, echoes are looked for all the same.
        if (index % 8 == 0) wait_until(1, take_echo);
      } else {
        wait_until(due, take_echo);
      }
    }
  }
  while (run.received < run.sent)
    if (!wait_until(0, take_echo)) die("%lu messages did not come back", run.sent - run.received);
  print_run(started, processor, monotonic_ns());
}

void run_bulk(uint64_t bytes_each) {
  begin_run(BYTES);
  uint64_t processor = processor_ns(), started = monotonic_ns();
  unsigned char order[8], frame[32];
  for (int index = 0; index < 8; index++) order[index] = (unsigned char)(bytes_each >> (56 - 8 * index));
  for (int index = 0; index < load.count; index++) {
    if (load.settings.protocol >= WEBSOCKET) {
      write_all(&load.sessions[index], frame, client_frame(frame, 2, order, sizeof order));
    } else {
      write_all(&load.sessions[index], order, sizeof order);
    }
  }
  run.bulk_wanted = bytes_each * (uint64_t)load.count;
  while (run.bulk_received < run.bulk_wanted)
    if (!wait_until(0, take_bulk)) die("%lu bytes did not come", run.bulk_wanted - run.bulk_received);
  if (run.bulk_received != run.bulk_wanted) die("more bytes than were asked for");
  print_run(started, processor, monotonic_ns());
}
