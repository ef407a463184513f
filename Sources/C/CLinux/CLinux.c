// Thin calls: no policy lives here.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <stdio.h>
#include <pwd.h>
#include <grp.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/landlock.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Static_assert(PORTCULLIS_READABLE == EPOLLIN && PORTCULLIS_WRITABLE == EPOLLOUT, "epoll flags");
_Static_assert(PORTCULLIS_ERROR == EPOLLERR && PORTCULLIS_HANGUP == EPOLLHUP, "epoll flags");
_Static_assert(PORTCULLIS_READ_HANGUP == EPOLLRDHUP, "epoll flags");

int portcullis_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data = {.u64 = token}};
  return epoll_ctl(epoll, operation, descriptor, &event);
}
int portcullis_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token) {
  return control(epoll, EPOLL_CTL_ADD, descriptor, events, token);
}
int portcullis_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t token) {
  return control(epoll, EPOLL_CTL_MOD, descriptor, events, token);
}
int portcullis_epoll_remove(int epoll, int descriptor) {
  return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0);
}
int portcullis_epoll_wait(int epoll, struct portcullis_event *events, int capacity, int milliseconds) {
  struct epoll_event ready[256];
  if (capacity > 256) capacity = 256;
  int count = epoll_wait(epoll, ready, capacity, milliseconds);
  for (int i = 0; i < count; i++) {
    events[i].token = ready[i].data.u64;
    events[i].events = ready[i].events;
  }
  return count;
}

int portcullis_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
int portcullis_signalfd(const int *signals, int count) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < count; i++) sigaddset(&set, signals[i]);
  int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (error) {
    errno = error;
    return -1;
  }
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}
int portcullis_read_signal(int descriptor) {
  struct signalfd_siginfo info;
  return read(descriptor, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}
int portcullis_window_size(int descriptor, uint16_t *columns, uint16_t *rows) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}
int portcullis_socket(int family, int type) { return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }


struct portcullis_address portcullis_address_internet(const uint8_t *bytes, int count, uint16_t port) {
  struct portcullis_address address;
  memset(&address, 0, sizeof address);
  if (count == 4) {
    struct sockaddr_in *in = (struct sockaddr_in *)&address.storage;
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    memcpy(&in->sin_addr, bytes, 4);
    address.length = sizeof *in;
  } else {
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address.storage;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    memcpy(&in6->sin6_addr, bytes, 16);
    address.length = sizeof *in6;
  }
  return address;
}
int portcullis_address_unix(struct portcullis_address *address, const char *path) {
  struct sockaddr_un *un = (struct sockaddr_un *)&address->storage;
  memset(address, 0, sizeof *address);
  if (strlen(path) >= sizeof un->sun_path) return -1;
  un->sun_family = AF_UNIX;
  strcpy(un->sun_path, path);
  address->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1);
  return 0;
}
int portcullis_address_abstract(struct portcullis_address *address, const char *name) {
  struct sockaddr_un *un = (struct sockaddr_un *)&address->storage;
  size_t length = strlen(name);
  memset(address, 0, sizeof *address);
  if (length == 0 || length >= sizeof un->sun_path) return -1;
  un->sun_family = AF_UNIX;
  memcpy(un->sun_path + 1, name, length);
  address->length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  return 0;
}
int portcullis_address_read(const struct portcullis_address *address, uint8_t *bytes, uint16_t *port) {
  if (address->storage.ss_family == AF_INET) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
    memcpy(bytes, &in->sin_addr, 4);
    *port = ntohs(in->sin_port);
    return 4;
  }
  if (address->storage.ss_family == AF_INET6) {
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
    memcpy(bytes, &in6->sin6_addr, 16);
    *port = ntohs(in6->sin6_port);
    return 16;
  }
  return 0;
}
int portcullis_bind(int descriptor, const struct portcullis_address *address) {
  return bind(descriptor, (const struct sockaddr *)&address->storage, address->length);
}
int portcullis_connect(int descriptor, const struct portcullis_address *address) {
  return connect(descriptor, (const struct sockaddr *)&address->storage, address->length);
}
int portcullis_accept(int listener, struct portcullis_address *address) {
  address->length = sizeof address->storage;
  return accept4(listener, (struct sockaddr *)&address->storage, &address->length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
int portcullis_local_address(int descriptor, struct portcullis_address *address) {
  address->length = sizeof address->storage;
  return getsockname(descriptor, (struct sockaddr *)&address->storage, &address->length);
}
int portcullis_resolve(const char *name, uint16_t port, struct portcullis_address *addresses, int capacity, int *code) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *found = NULL;
  *code = getaddrinfo(name, NULL, &hints, &found);
  if (*code != 0) return -1;
  int count = 0;
  for (struct addrinfo *each = found; each && count < capacity; each = each->ai_next) {
    if (each->ai_family == AF_INET) {
      const struct sockaddr_in *in = (const struct sockaddr_in *)each->ai_addr;
      addresses[count++] = portcullis_address_internet((const uint8_t *)&in->sin_addr, 4, port);
    } else if (each->ai_family == AF_INET6) {
      const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)each->ai_addr;
      addresses[count++] = portcullis_address_internet((const uint8_t *)&in6->sin6_addr, 16, port);
    }
  }
  freeaddrinfo(found);
  return count;
}
ssize_t portcullis_send_datagram(
    const struct portcullis_address *to, const uint8_t *bytes, size_t count, int beside, int milliseconds) {
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  struct timeval patience = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  union {
    struct cmsghdr aligned;
    uint8_t bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {
      .msg_name = (void *)&to->storage, .msg_namelen = to->length, .msg_iov = &part, .msg_iovlen = 1};
  if (beside >= 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof beside);
    memcpy(CMSG_DATA(header), &beside, sizeof beside);
  }
  ssize_t sent = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (sent == 0) sent = sendmsg(descriptor, &message, MSG_NOSIGNAL);
  int error = errno;
  close(descriptor);
  errno = error;
  return sent;
}
int portcullis_notice_socket(const struct portcullis_address *address) {
  int descriptor = portcullis_socket(AF_UNIX, SOCK_DGRAM), on = 1;
  if (descriptor < 0) return -1;
  if (setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 && portcullis_bind(descriptor, address) == 0)
    return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}
int portcullis_peek_notice(int descriptor, int32_t *process, int *has_descriptors) {
  // With room for the sender alone descriptors stay where they are, and that there are some is said.
  union {
    struct cmsghdr aligned;
    uint8_t bytes[CMSG_SPACE(sizeof(struct ucred))];
  } control;
  struct msghdr message = {.msg_control = &control, .msg_controllen = sizeof control.bytes};
  if (recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_PEEK) < 0) return -1;
  *process = 0;
  *has_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS) {
    struct ucred credentials;
    memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
    *process = credentials.pid;
  }
  return 0;
}
int portcullis_drop_notice(int descriptor) { return recv(descriptor, NULL, 0, MSG_DONTWAIT) < 0 ? -1 : 0; }
int portcullis_own_descriptors(int last) {
  return (int)syscall(SYS_close_range, (unsigned)last + 1, ~0U, CLOSE_RANGE_UNSHARE);
}
ssize_t portcullis_receive_notice(
    int descriptor, uint8_t *bytes, size_t capacity, struct portcullis_notice *notice) {
  struct iovec part = {.iov_base = bytes, .iov_len = capacity};
  union {
    struct cmsghdr aligned;
    uint8_t bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof notice->descriptors)];
  } control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.bytes};
  memset(notice, 0, sizeof *notice);
  ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) return -1;
  notice->is_whole = !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_CREDENTIALS) {
      struct ucred credentials;
      memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
      notice->process = credentials.pid;
    } else if (header->cmsg_type == SCM_RIGHTS) {
      // The kernel sends one such header, of at most SCM_MAX_FD descriptors.
      notice->count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      memcpy(notice->descriptors, CMSG_DATA(header), (size_t)notice->count * sizeof(int));
    }
  }
  return count;
}
const char *portcullis_resolve_error(int code) { return gai_strerror(code); }

int portcullis_random(void *bytes, size_t count) {
  uint8_t *next = bytes;
  while (count > 0) {
    ssize_t got = getrandom(next, count, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    next += got;
    count -= (size_t)got;
  }
  return 0;
}

int portcullis_has_memory(size_t bytes) {
  void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return found != MAP_FAILED && munmap(found, bytes) == 0;
}

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
uint64_t portcullis_monotonic(void) { return nanoseconds(CLOCK_MONOTONIC); }
int64_t portcullis_realtime(void) { return (int64_t)nanoseconds(CLOCK_REALTIME); }
uint64_t portcullis_thread_cpu(void) { return nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
void portcullis_give_memory_back(void) { malloc_trim(0); }
void portcullis_sleep_until(uint64_t monotonic) {
  struct timespec until = {.tv_sec = (time_t)(monotonic / 1000000000), .tv_nsec = (long)(monotonic % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

static _Thread_local int thread_nice;

int portcullis_set_thread_nice(int nice) {
  thread_nice = nice;
  return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice);
}
int portcullis_thread_nice(void) { return thread_nice; }

// Nanoseconds. At each point, a decision of the registry would be 7 % dearer.
static const uint64_t between_points = 30000;

void portcullis_preemption_point(void) {
  static _Thread_local uint64_t last;
  if (thread_nice <= 0) return;
  uint64_t now = portcullis_monotonic();
  if (now - last < between_points) return;
  last = now;
  portcullis_thread_cpu();
}
// As the kernel has it (sched_setattr(2)): the C library has neither this nor the calls before 2.41, and the kernel's header
// does not go with the library's.
struct schedule {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};

static int set_schedule(uint32_t policy, uint64_t slice) {
  struct schedule schedule = {.size = sizeof schedule};
  if (syscall(SYS_sched_getattr, 0, &schedule, sizeof schedule, 0) != 0) return -1;
  if (schedule.policy != SCHED_OTHER) return 0;
  schedule.policy = policy;
  schedule.runtime = slice;
  return (int)syscall(SYS_sched_setattr, 0, &schedule, 0);
}
int portcullis_set_thread_slice(uint64_t nanoseconds) { return set_schedule(SCHED_OTHER, nanoseconds); }
int portcullis_set_thread_batch(uint64_t slice) { return set_schedule(SCHED_BATCH, slice); }
int portcullis_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }
uint64_t portcullis_socket_cookie(int descriptor) {
  uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  return getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}
static int acknowledged(int descriptor, uint64_t *bytes) {
  struct tcp_info info = {0};
  socklen_t length = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
  if (length < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return -1;
  *bytes = info.tcpi_bytes_acked;
  return 0;
}

int portcullis_socket_taken(int descriptor, uint64_t *bytes) {
  // What is acknowledged between the two questions would be counted twice.
  for (int turn = 0; turn < 100; turn++) {
    uint64_t before, after;
    int queued;
    if (acknowledged(descriptor, &before) != 0 || ioctl(descriptor, SIOCOUTQ, &queued) != 0) return -1;
    if (acknowledged(descriptor, &after) != 0) return -1;
    *bytes = after + (uint64_t)queued;
    if (before == after) return 0;
  }
  errno = EAGAIN;
  return -1;
}

int portcullis_peer_credentials(int descriptor, uint32_t *pid, uint32_t *uid) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
  *pid = (uint32_t)credentials.pid;
  *uid = credentials.uid;
  return 0;
}

int portcullis_open(const char *path, int flags, uint32_t mode) {
  return open(path, flags | O_CLOEXEC, (mode_t)mode);
}
int portcullis_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
int portcullis_lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB); }

char **portcullis_environment(void) { return environ; }

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
int portcullis_memory_create(const char *name) {
  int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  // Linux before 6.3 does not know that nobody will run it.
  if (descriptor < 0 && errno == EINVAL) descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return descriptor;
}
int portcullis_memory_seal(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}
int portcullis_memory_is_sealed(int descriptor) {
  int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0) return -1;
  return (seals & (F_SEAL_SHRINK | F_SEAL_GROW)) == (F_SEAL_SHRINK | F_SEAL_GROW);
}
uint64_t *portcullis_memory_map(int descriptor, size_t bytes) {
  void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return found == MAP_FAILED ? NULL : found;
}
void portcullis_memory_unmap(uint64_t *words, size_t bytes) { munmap(words, bytes); }

int portcullis_errno(void) { return errno; }
int portcullis_is_would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

int portcullis_account(
    const char *name, uint32_t *user, char *found, size_t found_capacity, uint32_t *groups, int capacity) {
  char texts[16384];
  struct passwd record, *result = NULL;
  int error = name ? getpwnam_r(name, &record, texts, sizeof texts, &result)
                   : getpwuid_r((uid_t)*user, &record, texts, sizeof texts, &result);
  if (error != 0 || result == NULL || capacity < 1) return -1;
  int count = capacity;
  gid_t list[256];
  if (count > 256) count = 256;
  // Too many groups: those that fit are there all the same, and `count` says how many there would be.
  int limit = count;
  if (getgrouplist(result->pw_name, result->pw_gid, list, &count) < 0) count = limit;
  for (int index = 0; index < count; index++) groups[index] = (uint32_t)list[index];
  *user = (uint32_t)result->pw_uid;
  snprintf(found, found_capacity, "%s", result->pw_name);
  return count;
}

int portcullis_user_name(uint32_t user, char *found, size_t found_capacity) {
  char texts[16384];
  struct passwd record, *result = NULL;
  if (getpwuid_r((uid_t)user, &record, texts, sizeof texts, &result) != 0) return -1;
  if (result == NULL) return 0;
  snprintf(found, found_capacity, "%s", result->pw_name);
  return 1;
}

int portcullis_group(const char *name, uint32_t *group) {
  char texts[65536];
  struct group record, *result = NULL;
  if (getgrnam_r(name, &record, texts, sizeof texts, &result) != 0 || result == NULL) return -1;
  *group = (uint32_t)result->gr_gid;
  return 0;
}
int portcullis_groups(const char *user, uint32_t primary, uint32_t *groups, int capacity) {
  gid_t list[256];
  int count = capacity < 256 ? capacity : 256;
  int limit = count;
  if (getgrouplist(user, (gid_t)primary, list, &count) < 0) count = limit;
  for (int index = 0; index < count; index++) groups[index] = (uint32_t)list[index];
  return count;
}
int portcullis_may_access(const char *path, int wishes) { return faccessat(AT_FDCWD, path, wishes, AT_EACCESS); }

int portcullis_hide_memory(void) {
  struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
int portcullis_refuse_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int portcullis_limit_capabilities(uint64_t kept) {
  for (unsigned long each = 0; each < 64; each++) {
    int has = prctl(PR_CAPBSET_READ, each, 0, 0, 0);
    if (has < 0) break;  // beyond the last that this kernel has
    if (has && !(kept >> each & 1) && prctl(PR_CAPBSET_DROP, each, 0, 0, 0) != 0) return -1;
  }
  return 0;
}
int portcullis_keep_capabilities(uint64_t kept) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
  memset(sets, 0, sizeof sets);
  if (syscall(SYS_capget, &header, sets) != 0) return -1;
  uint32_t had = 0;
  for (int half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
    had |= sets[half].permitted | sets[half].inheritable;
    uint32_t mask = (uint32_t)(kept >> (32 * half));
    sets[half].permitted &= mask;
    sets[half].effective = sets[half].permitted;
    sets[half].inheritable = 0;
  }
  // Where there is nothing to give up, the call need not be allowed either. What is not inheritable leaves the
  // ambient set as well.
  return had ? (int)syscall(SYS_capset, &header, sets) : 0;
}
int portcullis_take_groups(uint32_t group, const uint32_t *groups, int count) {
  gid_t list[256];
  if (count < 0 || count > 256) {
    errno = EINVAL;
    return -1;
  }
  for (int index = 0; index < count; index++) list[index] = (gid_t)groups[index];
  if (setgroups((size_t)count, list) != 0) return -1;
  return setresgid((gid_t)group, (gid_t)group, (gid_t)group);
}
int portcullis_take_effective_user(uint32_t user) { return setresuid((uid_t)-1, (uid_t)user, (uid_t)-1); }
int portcullis_take_user(uint32_t user) { return setresuid((uid_t)user, (uid_t)user, (uid_t)user); }
int portcullis_is_only(uint32_t user, uint32_t group) {
  uid_t users[3];
  gid_t groups[3];
  if (getresuid(&users[0], &users[1], &users[2]) != 0 || getresgid(&groups[0], &groups[1], &groups[2]) != 0) return 0;
  for (int index = 0; index < 3; index++) {
    if (users[index] != (uid_t)user || groups[index] != (gid_t)group) return 0;
  }
  return 1;
}

// In the new process: only what signal-safety(7) allows. Returns when something fails, with errno.
static void become(const struct portcullis_program *program, pid_t parent, int *pipe) {
  int limit = 3 + program->count;
  if (*pipe < limit) {
    int moved = fcntl(*pipe, F_DUPFD_CLOEXEC, limit);
    if (moved < 0) return;
    *pipe = moved;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0) return;
  if (getppid() != parent) {
    errno = ESRCH;
    return;
  }
  // A terminal's interrupt is for the parent, who passes it on.
  if (setpgid(0, 0) != 0) return;
  for (int index = 0; index < program->count; index++) {
    if (dup2(program->descriptors[index], 3 + index) < 0) return;
  }
  // What is not close-on-exec anyway. Linux 5.11; before, whoever left something open left it open.
  (void)syscall(SYS_close_range, (unsigned)limit, ~0u, CLOSE_RANGE_CLOEXEC);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (int index = 0; index < program->signal_count; index++) sigaddset(&blocked, program->signals[index]);
  // What the parent ignores stays ignored over execve: the new program has every signal as if a shell had started it.
  for (int number = 1; number <= SIGSYS; number++) signal(number, SIG_DFL);
  if (sigprocmask(SIG_SETMASK, &blocked, NULL) != 0) return;
  if (program->digits) {
    char reversed[12];
    int length = 0;
    for (pid_t rest = getpid(); rest > 0; rest /= 10) reversed[length++] = (char)('0' + rest % 10);
    for (int index = 0; index < length; index++) program->digits[index] = reversed[length - 1 - index];
    program->digits[length] = 0;
  }
  execve(program->path, program->arguments, program->environment);
}
int portcullis_start(const struct portcullis_program *program) {
  int ends[2], error = 0;
  if (portcullis_pipe(ends) != 0) return -1;
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    become(program, parent, &ends[1]);
    error = errno;
    ssize_t told = write(ends[1], &error, sizeof error);
    (void)told;
    _exit(127);
  }
  if (child < 0) error = errno;
  close(ends[1]);
  // The pipe ends when the program is executed.
  while (child > 0 && read(ends[0], &error, sizeof error) < 0 && errno == EINTR) {
  }
  close(ends[0]);
  if (error == 0) return child;
  if (child > 0) waitpid(child, NULL, 0);
  errno = error;
  return -1;
}
int portcullis_reap(int *code, int *signal) {
  int status;
  pid_t process = waitpid(-1, &status, WNOHANG);
  if (process <= 0) return 0;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return process;
}
int portcullis_chmod_same(const char *path, uint64_t device, uint64_t inode, uint32_t mode) {
  int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return -1;
  struct stat status;
  int result = fstat(file, &status);
  if (result == 0 && (status.st_dev != device || status.st_ino != inode)) {
    errno = ESTALE;
    result = -1;
  }
  if (result == 0) {
    // fchmod(2) takes no such descriptor, and its name below /proc leads to the file itself. Where there is no /proc, the
    // path has to do.
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    result = chmod(link, (mode_t)mode);
    if (result != 0 && errno == ENOENT) result = chmod(path, (mode_t)mode);
  }
  int failure = errno;
  close(file);
  errno = failure;
  return result;
}
void portcullis_close_from(int first) { (void)syscall(SYS_close_range, (unsigned)first, ~0u, 0); }

int portcullis_landlock_version(void) {
  return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}
// As of version 6; the headers of Debian 12 have the first member alone.
struct landlock_rules {
  uint64_t files, network, scoped;
};
int portcullis_landlock_begin(uint64_t files, uint64_t network, uint64_t scoped) {
  struct landlock_rules rules = {.files = files, .network = network, .scoped = scoped};
  // No more than is asked for, as older versions know no more: the kernel takes the others for zero.
  size_t length = scoped ? sizeof rules : network ? 2 * sizeof files : sizeof files;
  return (int)syscall(SYS_landlock_create_ruleset, &rules, length, 0);
}
int portcullis_landlock_permit_port(int rules, uint64_t permitted, uint16_t port) {
  const int net_port = 2;  // LANDLOCK_RULE_NET_PORT
  struct {
    uint64_t permitted, port;
  } rule = {.permitted = permitted, .port = port};
  return (int)syscall(SYS_landlock_add_rule, rules, net_port, &rule, 0);
}
int portcullis_landlock_permit(int rules, uint64_t permitted, int folder) {
  struct landlock_path_beneath_attr beneath = {.allowed_access = permitted, .parent_fd = folder};
  return (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
}
int portcullis_landlock_enforce(int rules) { return (int)syscall(SYS_landlock_restrict_self, rules, 0); }

static int argument_count;
static char **arguments;
// The GNU C library calls constructors with what main() gets.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  argument_count = count;
  arguments = values;
}
int portcullis_argument_count(void) { return argument_count; }
const char *portcullis_argument(int index) {
  return index >= 0 && index < argument_count ? arguments[index] : NULL;
}
