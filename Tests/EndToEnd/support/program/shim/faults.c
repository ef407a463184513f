// Delays or fails the calls that keep a file: by path, by number, by kind, as the control file says.
#define _GNU_SOURCE
#include "control.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define LOAD(field) __atomic_load_n(&control->field, __ATOMIC_SEQ_CST)
#define ADD(field, amount) __atomic_add_fetch(&control->field, amount, __ATOMIC_SEQ_CST)

static int path_matches(const char *path) {
  return control->path_part[0] != 0 && path && strstr(path, control->path_part) != NULL;
}

static int descriptor_matches(int descriptor) {
  if (control->path_part[0] == 0) return 0;
  int saved = errno;
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (length < 0) return 0;
  path[length] = 0;
  return path_matches(path);
}

// Counts one matching call; true with errno set when this is one that has to fail.
static int ordered_to_fail(void) {
  int32_t number = ADD(calls, 1), nth = LOAD(nth);
  if (nth == 0 || number < nth || (number > nth && !LOAD(sticky))) return 0;
  ADD(failures, 1);
  errno = LOAD(nth_error);
  return 1;
}

// ---- What a power cut would leave: kept by inode, as the order of creations and syncs makes it.

static pthread_mutex_t survivors_lock = PTHREAD_MUTEX_INITIALIZER;

static struct survivor *survivor_of(uint64_t inode) {
  for (int64_t i = 0; i < control->survivor_count; i++)
    if (control->survivors[i].inode == inode) return &control->survivors[i];
  // The oldest makes room: the store keeps few files at a time.
  int64_t index = control->survivor_count < SURVIVORS ? control->survivor_count++ : SURVIVORS - 1;
  if (index == SURVIVORS - 1)
    memmove(control->survivors, control->survivors + 1, index * sizeof(struct survivor));
  control->survivors[index] = (struct survivor){.inode = inode, .has_name = 1};
  return &control->survivors[index];
}

static void note_created(int descriptor) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0 || status.st_size != 0) return;
  pthread_mutex_lock(&survivors_lock);
  *survivor_of(status.st_ino) = (struct survivor){.inode = status.st_ino};
  pthread_mutex_unlock(&survivors_lock);
}

static void note_synced(const struct stat *before) {
  pthread_mutex_lock(&survivors_lock);
  if (S_ISDIR(before->st_mode)) {
    for (int64_t i = 0; i < control->survivor_count; i++) control->survivors[i].has_name = 1;
  } else {
    survivor_of(before->st_ino)->synced_size = before->st_size;
  }
  pthread_mutex_unlock(&survivors_lock);
}

static int synchronise(int descriptor, int (*call)(int)) {
  struct stat before;
  if (fstat(descriptor, &before) != 0) return -1;
  if (S_ISDIR(before.st_mode)) {
    int result = call(descriptor);
    if (result == 0) note_synced(&before);
    return result;
  }
  if (!descriptor_matches(descriptor)) return call(descriptor);
  if (LOAD(sync_hold)) {
    ADD(syncs_waiting, 1);
    struct timespec pause = {.tv_nsec = 1000000};
    while (LOAD(sync_hold)) nanosleep(&pause, NULL);
    ADD(syncs_waiting, -1);
  }
  if (ordered_to_fail()) return -1;
  int32_t error = LOAD(sync_error);
  if (error) {
    ADD(failures, 1);
    errno = error;
    return -1;
  }
  int result = call(descriptor);
  if (result == 0) note_synced(&before);
  ADD(syncs_done, 1);
  return result;
}

int fsync(int descriptor) { return synchronise(descriptor, REAL(fsync)); }
int fdatasync(int descriptor) { return synchronise(descriptor, REAL(fdatasync)); }

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (descriptor_matches(descriptor) && ordered_to_fail()) {
    if (LOAD(torn) && LOAD(nth) == LOAD(calls) && count > 1) return REAL(write)(descriptor, bytes, count / 2);
    return -1;
  }
  return REAL(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (descriptor_matches(descriptor) && ordered_to_fail()) {
    if (LOAD(torn) && LOAD(nth) == LOAD(calls) && count > 1)
      return REAL(pwrite)(descriptor, bytes, count / 2, offset);
    return -1;
  }
  return REAL(pwrite)(descriptor, bytes, count, offset);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  if (descriptor_matches(descriptor) && ordered_to_fail()) return -1;
  return REAL(writev)(descriptor, parts, count);
}

int ftruncate(int descriptor, off_t length) {
  if (descriptor_matches(descriptor) && ordered_to_fail()) return -1;
  return REAL(ftruncate)(descriptor, length);
}
int ftruncate64(int descriptor, off_t length) { return ftruncate(descriptor, length); }

int rename(const char *from, const char *to) {
  if ((path_matches(from) || path_matches(to)) && ordered_to_fail()) return -1;
  return REAL(rename)(from, to);
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  if ((path_matches(from) || path_matches(to)) && ordered_to_fail()) return -1;
  return REAL(renameat)(from_folder, from, to_folder, to);
}

int unlink(const char *path) {
  if (path_matches(path) && ordered_to_fail()) return -1;
  return REAL(unlink)(path);
}
int unlinkat(int folder, const char *path, int flags) {
  if (path_matches(path) && ordered_to_fail()) return -1;
  return REAL(unlinkat)(folder, path, flags);
}

// Only opens that may create a file count: reading has no part in what must be durable.
static int fails_to_open(const char *path, int flags) {
  return (flags & O_CREAT) && path_matches(path) && ordered_to_fail();
}
static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) ? (mode_t)va_arg(arguments, int) : 0;
}

#define OPEN(name)                                                    \
  int name(const char *path, int flags, ...) {                        \
    va_list arguments;                                                \
    va_start(arguments, flags);                                       \
    mode_t mode = mode_of(flags, arguments);                          \
    va_end(arguments);                                                \
    if (fails_to_open(path, flags)) return -1;                        \
    int descriptor = REAL(name)(path, flags, mode);                   \
    if ((flags & O_CREAT) && path_matches(path)) note_created(descriptor); \
    return descriptor;                                                \
  }
#define OPENAT(name)                                                  \
  int name(int folder, const char *path, int flags, ...) {            \
    va_list arguments;                                                \
    va_start(arguments, flags);                                       \
    mode_t mode = mode_of(flags, arguments);                          \
    va_end(arguments);                                                \
    if (fails_to_open(path, flags)) return -1;                        \
    int descriptor = REAL(name)(folder, path, flags, mode);           \
    if ((flags & O_CREAT) && path_matches(path)) note_created(descriptor); \
    return descriptor;                                                \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
