// Holds or shortens the calls that read from the game and write to it, so that a test can kill at a chosen one.
#define _GNU_SOURCE
#include "control.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define LOAD(field) __atomic_load_n(&control->field, __ATOMIC_SEQ_CST)
#define ADD(field, amount) __atomic_add_fetch(&control->field, amount, __ATOMIC_SEQ_CST)

static int is_leg(int descriptor) {
  int32_t port = LOAD(leg_port);
  if (port == 0) return 0;
  int saved = errno;
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  int known = getpeername(descriptor, (struct sockaddr *)&peer, &length) == 0;
  errno = saved;
  if (!known) return 0;
  if (peer.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&peer)->sin_port) == port;
  return peer.ss_family == AF_INET6 && ntohs(((struct sockaddr_in6 *)&peer)->sin6_port) == port;
}

static void hold(void) {
  struct timespec pause = {.tv_nsec = 1000000};
  ADD(legs_held, 1);
  while (LOAD(leg_hold)) nanosleep(&pause, NULL);
  ADD(legs_held, -1);
}

// Whether this call is the one that is waited for: the nth of its kind, or the first behind it that moved something.
static int is_due(int32_t number, enum leg_hold kind) {
  return LOAD(leg_hold) == (int32_t)kind && number >= LOAD(leg_nth);
}

#define READ(call)                                                  \
  if (!is_leg(descriptor)) return call;                             \
  int32_t number = ADD(leg_reads, 1);                               \
  if (is_due(number, HOLD_BEFORE_READ)) hold();                     \
  ssize_t count = call;                                             \
  if (count > 0 && is_due(number, HOLD_AFTER_READ)) hold();         \
  return count;

ssize_t recv(int descriptor, void *buffer, size_t size, int flags) {
  READ(REAL(recv)(descriptor, buffer, size, flags))
}

ssize_t readv(int descriptor, const struct iovec *vectors, int vector_count) {
  READ(REAL(readv)(descriptor, vectors, vector_count))
}

// So many bytes are taken yet, and then none.
static ssize_t send_some(int descriptor, const void *data, size_t size, int flags) {
  int32_t take = LOAD(leg_take);
  if (take == 0) return REAL(send)(descriptor, data, size, flags);
  size_t left = (size_t)take - 1;
  if (left == 0) {
    errno = EAGAIN;
    return -1;
  }
  ssize_t count = REAL(send)(descriptor, data, size < left ? size : left, flags);
  if (count > 0) ADD(leg_take, -(int32_t)count);
  return count;
}

ssize_t send(int descriptor, const void *data, size_t size, int flags) {
  if (!is_leg(descriptor)) return REAL(send)(descriptor, data, size, flags);
  int32_t number = ADD(leg_writes, 1);
  if (is_due(number, HOLD_BEFORE_WRITE)) hold();
  ssize_t count = send_some(descriptor, data, size, flags);
  if (count > 0 && is_due(number, HOLD_AFTER_WRITE)) hold();
  return count;
}
