// Moves the clocks a process reads by the offsets in the control file, or has them stand still, and with them what waits
// for a moment of the monotonic clock; the kernel's own waits keep real time, but for poll on a clock that stands still.
#define _GNU_SOURCE
#include "control.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct control nothing;
struct control *control = &nothing;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void map_control(void) {
  real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("SHIM_CONTROL");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) control = mapped;
}

// Whether the clock is one of those that a test moves.
static bool is_moved(clockid_t clock, int64_t *still, int64_t *offset) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      *still = __atomic_load_n(&control->realtime_still, __ATOMIC_RELAXED);
      *offset = __atomic_load_n(&control->realtime_offset, __ATOMIC_RELAXED);
      return *still != 0 || *offset != 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      *still = __atomic_load_n(&control->monotonic_still, __ATOMIC_RELAXED);
      *offset = __atomic_load_n(&control->monotonic_offset, __ATOMIC_RELAXED);
      return *still != 0 || *offset != 0;
    default:
      return false;
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real_gettime) real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real_gettime(clock, now);
  int64_t still, offset;
  if (result == 0 && is_moved(clock, &still, &offset)) {
    int64_t total = (still ? still : (int64_t)now->tv_sec * 1000000000 + now->tv_nsec) + offset;
    now->tv_sec = total / 1000000000;
    now->tv_nsec = total % 1000000000;
  }
  return result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  result->tv_sec = now.tv_sec;
  result->tv_usec = now.tv_nsec / 1000;
  return 0;
}

// The deadline is one of the moved monotonic clock, which may be moved again meanwhile: waits a little at a time, and
// wakes for no reason in between, as such a wait may. Every deadline of the program under test is of this clock. On a clock
// that stands still a short wait ends by itself: that is how the log flows there (LogWriter.Pace), and phones' evidence
// (EvidencePace).
int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict deadline) {
  static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  // There is an older one with another structure under the same name.
  if (!real_wait) real_wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  struct timespec now, until;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int64_t left = ((int64_t)deadline->tv_sec - now.tv_sec) * 1000000000 + deadline->tv_nsec - now.tv_nsec;
  if (left <= 0) return ETIMEDOUT;
  real_gettime(CLOCK_MONOTONIC, &until);
  int is_short = left <= (__atomic_load_n(&control->monotonic_still, __ATOMIC_RELAXED) ? 500000000 : 20000000);
  int64_t slice = is_short ? left : 20000000;
  until.tv_nsec += slice;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec += 1;
    until.tv_nsec -= 1000000000;
  }
  int result = real_wait(condition, mutex, &until);
  return result == ETIMEDOUT && slice < left ? 0 : result;
}

// Its time is one of the monotonic clock: on one that stands still it waits until that is moved.
int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
  static int (*real_poll)(struct pollfd *, nfds_t, int);
  if (!real_poll) real_poll = dlsym(RTLD_NEXT, "poll");
  if (milliseconds <= 0 || !__atomic_load_n(&control->monotonic_still, __ATOMIC_RELAXED))
    return real_poll(descriptors, count, milliseconds);
  struct timespec begun, now;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  while (true) {
    int ready = real_poll(descriptors, count, 20);
    if (ready != 0) return ready;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((int64_t)(now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 >= milliseconds) return 0;
  }
}
