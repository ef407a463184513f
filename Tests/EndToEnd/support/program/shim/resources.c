// Refuses or delays what the system gives: threads, memory, ports, names, what a disk has left; as the control file says.
#define _GNU_SOURCE
#include "control.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <time.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define LOAD(field) __atomic_load_n(&control->field, __ATOMIC_SEQ_CST)
#define ADD(field, amount) __atomic_add_fetch(&control->field, amount, __ATOMIC_SEQ_CST)

#define HOLD(flag, waiting)                        \
  if (LOAD(flag)) {                                \
    struct timespec pause = {.tv_nsec = 1000000};  \
    ADD(waiting, 1);                               \
    while (LOAD(flag)) nanosleep(&pause, NULL);    \
    ADD(waiting, -1);                              \
  }

int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*body)(void *), void *restrict argument) {
  if (ADD(threads, 1) == LOAD(thread_nth)) return EAGAIN;
  return REAL(pthread_create)(thread, attributes, body, argument);
}

int listen(int descriptor, int backlog) {
  HOLD(listen_hold, listens_waiting)
  int result = REAL(listen)(descriptor, backlog), family = AF_UNSPEC;
  socklen_t length = sizeof family;
  getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length);
  if (result == 0 && family != AF_UNIX) HOLD(listening_hold, listenings_waiting)
  return result;
}

// Numbers with commas between them, in this order. The C library frees its lists node by node, so they can be joined.
static int resolve_each(
    const char *numbers, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  char copy[sizeof control->resolve_address], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", numbers);
  *found = NULL;
  for (char *each = strtok_r(copy, ",", &rest); each; each = strtok_r(NULL, ",", &rest)) {
    int error = REAL(getaddrinfo)(each, service, hints, found);
    if (error) return error;
    while (*found) found = &(*found)->ai_next;
  }
  return 0;
}

int getaddrinfo(
    const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict found) {
  if (name && control->resolve_name[0] && strcmp(name, control->resolve_name) == 0) {
    ADD(resolves, 1);
    HOLD(resolve_hold, resolves_waiting)
    int error = LOAD(resolve_error);
    if (error) return error;
    return resolve_each(control->resolve_address, service, hints, found);
  }
  return REAL(getaddrinfo)(name, service, hints, found);
}

int statvfs(const char *path, struct statvfs *space) {
  HOLD(space_hold, spaces_waiting)
  return REAL(statvfs)(path, space);
}
int statvfs64(const char *path, struct statvfs64 *space) {
  HOLD(space_hold, spaces_waiting)
  return REAL(statvfs64)(path, space);
}

// ---- Memory. The C library's own names, as dlsym itself may ask for memory.

extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);

static int is_openssl(const void *caller) {
  Dl_info library;
  if (!dladdr(caller, &library) || !library.dli_fname) return 0;
  return strstr(library.dli_fname, "libcrypto") || strstr(library.dli_fname, "libssl");
}

static int gets_nothing(const void *caller, size_t size) {
  int32_t least = LOAD(memory_least), nth = LOAD(memory_nth);
  if (least > 0 && size >= (size_t)least) return 1;
  if (nth == 0 || !is_openssl(caller)) return 0;
  int32_t number = ADD(memory_calls, 1);
  return number == nth || (number > nth && LOAD(memory_sticky));
}

void *malloc(size_t size) {
  if (gets_nothing(__builtin_return_address(0), size)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}

void *realloc(void *old, size_t size) {
  if (gets_nothing(__builtin_return_address(0), size)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_realloc(old, size);
}
