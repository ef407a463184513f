// When requests are due: so many a second, without what was due while this process was paused, or as soon as can be.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

#include "load.h"

// Nothing for so long is the end of a run.
static const uint64_t patience = 20000000000;

// Set by SIGCONT: the bench has had this process stand still for a while.
static volatile sig_atomic_t was_paused;
static void note_pause(int signal) {
  (void)signal;
  was_paused = 1;
}

struct pace pace_begin(double rate) {
  signal(SIGCONT, note_pause);
  was_paused = 0;
  uint64_t now = monotonic_ns();
  return (struct pace){.rate = rate, .started = now, .seen = now};
}

uint64_t pace_now(struct pace *pace) {
  uint64_t before = pace->seen;
  pace->seen = monotonic_ns();
  // What was due meanwhile is not owed.
  if (was_paused) pace->started += pace->seen - before;
  was_paused = 0;
  return pace->seen;
}

uint64_t pace_due(const struct pace *pace, int number) {
  return pace->rate > 0 ? pace->started + (uint64_t)(number * 1e9 / pace->rate) : 0;
}

int pace_wait(const struct pace *pace, int next, struct epoll_event *events) {
  uint64_t left = patience;
  if (next >= 0) {
    uint64_t due = pace_due(pace, next), now = monotonic_ns();
    left = due > now ? due - now : 0;
  }
  struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)};
  int found = epoll_pwait2(load.poller, events, MAXIMUM_EVENTS, &timeout, NULL);
  if (found == 0 && next < 0) die("requests are under way, and nothing happens");
  return found;
}
