// Moves the clocks a process reads by the offsets in the control file; waits of the kernel keep real time, and the
// deadlines of threads' waits, which are readings of the moved clock, are moved back for them.
#define _GNU_SOURCE
#include "control.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
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

static int64_t offset_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return __atomic_load_n(&control->realtime_offset, __ATOMIC_RELAXED);
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return __atomic_load_n(&control->monotonic_offset, __ATOMIC_RELAXED);
    default:
      return 0;
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real_gettime) real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real_gettime(clock, now);
  int64_t offset = offset_of(clock);
  if (result == 0 && offset != 0) {
    int64_t total = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + offset;
    now->tv_sec = total / 1000000000;
    now->tv_nsec = total % 1000000000;
  }
  return result;
}

// All the conditions that the program waits on with a deadline go by the monotonic clock (Signal.swift).
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
  int64_t offset = offset_of(CLOCK_MONOTONIC);
  int64_t moved = (int64_t)deadline->tv_sec * 1000000000 + deadline->tv_nsec - offset;
  if (moved < 0) moved = 0;
  struct timespec real = {.tv_sec = moved / 1000000000, .tv_nsec = moved % 1000000000};
  return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &real);
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
