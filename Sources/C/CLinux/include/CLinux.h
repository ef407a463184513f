// The calls of Linux that Glibc's Swift overlay lacks, or that are variadic or macros there.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <netdb.h>

// ---- epoll. `token` comes back untouched with each event.
struct portcullis_event {
  uint64_t token;
  uint32_t events;
};
enum {
  PORTCULLIS_READABLE = 0x001,  // EPOLLIN
  PORTCULLIS_WRITABLE = 0x004,  // EPOLLOUT
  PORTCULLIS_ERROR = 0x008,     // EPOLLERR
  PORTCULLIS_HANGUP = 0x010,    // EPOLLHUP
  PORTCULLIS_READ_HANGUP = 0x2000,  // EPOLLRDHUP
};
int portcullis_epoll_create(void);
int portcullis_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token);
int portcullis_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t token);
int portcullis_epoll_remove(int epoll, int descriptor);
// Waits up to `milliseconds` (-1: for ever); returns the number of events, or -1 with errno.
int portcullis_epoll_wait(int epoll, struct portcullis_event *events, int capacity, int milliseconds);

int portcullis_eventfd(void);  // non-blocking, close-on-exec
int portcullis_signalfd(const int *signals, int count);  // blocks them first, in the calling thread

// ---- socket addresses
struct portcullis_address {
  struct sockaddr_storage storage;
  socklen_t length;
};
// `bytes` are 4 or 16, in network order; `port` is a plain number.
struct portcullis_address portcullis_address_internet(const uint8_t *bytes, int count, uint16_t port);
int portcullis_address_unix(struct portcullis_address *address, const char *path);  // -1 when too long
// A name that is no file (unix(7), "abstract"); -1 when empty or too long
int portcullis_address_abstract(struct portcullis_address *address, const char *name);
// Writes up to 16 bytes and the port; returns 4 or 16, or 0 when it is no internet address.
int portcullis_address_read(const struct portcullis_address *address, uint8_t *bytes, uint16_t *port);
int portcullis_bind(int descriptor, const struct portcullis_address *address);
int portcullis_connect(int descriptor, const struct portcullis_address *address);
int portcullis_accept(int listener, struct portcullis_address *address);  // accept4, non-blocking
int portcullis_local_address(int descriptor, struct portcullis_address *address);
// Resolves a name to at most `capacity` addresses with `port`; their count, or -1 with a getaddrinfo code in *code.
int portcullis_resolve(const char *name, uint16_t port, struct portcullis_address *addresses, int capacity, int *code);
const char *portcullis_resolve_error(int code);
int portcullis_read_signal(int descriptor);  // the next signal's number, 0 when none waits
int portcullis_socket(int family, int type);  // non-blocking, close-on-exec
// One datagram from a UNIX socket made for it, with a descriptor beside the bytes unless that is -1; waits up to
// `milliseconds` for room. The bytes sent, or -1 with errno.
ssize_t portcullis_send_datagram(
    const struct portcullis_address *to, const uint8_t *bytes, size_t count, int beside, int milliseconds);
// What came beside a datagram. The descriptors are the caller's from then on, close-on-exec; no message can have more.
struct portcullis_notice {
  int process;  // the sender's, as the kernel has it
  int is_whole;
  int count;
  int descriptors[253];
};
int portcullis_notice_socket(const struct portcullis_address *address);  // datagrams, with their senders; non-blocking
ssize_t portcullis_receive_notice(int descriptor, uint8_t *bytes, size_t capacity, struct portcullis_notice *notice);
// Who has sent the next datagram, and whether descriptors are with it, of which none is taken; it stays where it is.
int portcullis_peek_notice(int descriptor, int32_t *process, int *has_descriptors);
int portcullis_drop_notice(int descriptor);  // takes it without its descriptors
// Leaves the calling thread alone with a table of the descriptors up to this one: what it opens from then on is closed when
// it ends, and nobody waits for that.
int portcullis_own_descriptors(int last);
int portcullis_random(void *bytes, size_t count);  // 0, or -1 with errno; never short
// 1 when so much could be had just now: it is asked for, and given back untouched; else 0 with errno.
int portcullis_has_memory(size_t bytes);

// ---- terminals
// 0, or -1 with errno; a terminal that does not know its size says 0 of both.
int portcullis_window_size(int descriptor, uint16_t *columns, uint16_t *rows);

// ---- clocks, nanoseconds
uint64_t portcullis_monotonic(void);
int64_t portcullis_realtime(void);
uint64_t portcullis_thread_cpu(void);
void portcullis_give_memory_back(void);  // malloc_trim(3), whose header Swift's Glibc lacks
void portcullis_sleep_until(uint64_t monotonic);  // whatever signals come meanwhile

// ---- threads and process
int portcullis_set_thread_nice(int nice);  // for the calling thread only
int portcullis_thread_nice(void);          // what the calling thread was given, 0 when nothing
// Linux does its accounts with who asks for the processor time he has had, and if his turn is over, another's begins. For
// threads that were given a niceness; without effect for others.
void portcullis_preemption_point(void);
// How long the calling thread runs before another's turn, 100 µs to 100 ms; one with a shorter slice is served sooner when
// it wakes (Linux 6.12; without effect before).
int portcullis_set_thread_slice(uint64_t nanoseconds);
int portcullis_set_thread_batch(uint64_t slice);  // likewise, and when it wakes it preempts nobody: SCHED_BATCH
int portcullis_thread_name(const char *name);
uint64_t portcullis_socket_cookie(int descriptor);  // what the kernel alone calls the socket, in whatever process; 0: nobody knows
// How many bytes a TCP socket has ever taken from its processes, and a constant more (tcp(7), TCP_INFO and SIOCOUTQ).
int portcullis_socket_taken(int descriptor, uint64_t *bytes);
int portcullis_peer_credentials(int descriptor, uint32_t *pid, uint32_t *uid);

// ---- other processes
// A program and what it is given. It ends with the process that started it: SIGTERM (PR_SET_PDEATHSIG).
struct portcullis_program {
  const char *path;
  char *const *arguments;
  char *const *environment;
  char *digits;  // room for 11 bytes within the environment, where its own number is written; or NULL
  const int *descriptors;  // these as 3, 4 and so on, and none besides standard ones; each of them is 3 + count or above
  int count;
  const int *signals;  // those that it starts with blocked
  int signal_count;
};
int portcullis_start(const struct portcullis_program *program);  // its number, or -1 with errno of what failed on the way
// One child that has ended: its number, and a code or -1 with a signal; 0 when none has.
int portcullis_reap(int *code, int *signal);
void portcullis_close_from(int first);  // all from this number on (Linux 5.9)

// ---- files
int portcullis_open(const char *path, int flags, uint32_t mode);  // close-on-exec added
// The account called `name`, or without one that of the number in *user: its name, number and groups, the primary one
// first. Returns how many groups, at most `capacity`; -1 when there is no such account.
int portcullis_account(
    const char *name, uint32_t *user, char *found, size_t found_capacity, uint32_t *groups, int capacity);
// The name of the account with this number, cut off at the capacity: 1, 0 where the system says that there is none, -1 where
// it cannot say.
int portcullis_user_name(uint32_t user, char *found, size_t found_capacity);
int portcullis_pipe(int ends[2]);  // reading, writing; close-on-exec: 0, or -1 with errno
int portcullis_lock(int descriptor);  // flock, exclusive, at once: 0, or -1 with errno

// The number of the group called `name`: 0, or -1 when there is none.
int portcullis_group(const char *name, uint32_t *group);
// Groups of the account called `user`, with `primary` first; as portcullis_account otherwise.
int portcullis_groups(const char *user, uint32_t primary, uint32_t *groups, int capacity);
int portcullis_may_access(const char *path, int wishes);  // access(2) with the effective user: 0, or -1 with errno

// ---- least privilege. Each is 0, or -1 with errno; what counts for one thread alone has to come before there are others.
int portcullis_hide_memory(void);  // no core dumps, no tracing by the same user (PR_SET_DUMPABLE)
int portcullis_refuse_new_privileges(void);
// Bounding set down to `kept`, a bit a capability; needs CAP_SETPCAP for what goes.
int portcullis_limit_capabilities(uint64_t kept);
// Permitted and effective set down to `kept`, the inheritable and the ambient one to nothing.
int portcullis_keep_capabilities(uint64_t kept);
int portcullis_take_groups(uint32_t group, const uint32_t *groups, int count);  // setgroups, setresgid of all three
int portcullis_take_effective_user(uint32_t user);  // the real and the saved one stay, and with them the way back
int portcullis_take_user(uint32_t user);  // for good: setresuid of all three
int portcullis_is_only(uint32_t user, uint32_t group);  // whether real, effective and saved one are these

// The mode of what has this device and inode; ESTALE where the path leads to something else by now, ELOOP to a link's target.
int portcullis_chmod_same(const char *path, uint64_t device, uint64_t inode, uint32_t mode);

// ---- landlock(7). The version of the kernel's, or -1 with errno.
int portcullis_landlock_version(void);
// A descriptor of the rules, close-on-exec; network takes version 4, scoped version 6.
int portcullis_landlock_begin(uint64_t files, uint64_t network, uint64_t scoped);
int portcullis_landlock_permit_port(int rules, uint64_t permitted, uint16_t port);
int portcullis_landlock_permit(int rules, uint64_t permitted, int folder);
int portcullis_landlock_enforce(int rules);  // on the calling thread and those it starts

// What the C library gave to main(), also where there is no /proc to read it from.
int portcullis_argument_count(void);
const char *portcullis_argument(int index);

char **portcullis_environment(void);  // environ(7): C strings, ended by NULL

// ---- memory that a next process goes on with, in words of eight bytes. A store is whole whenever the process is killed.
int portcullis_memory_create(const char *name);  // memfd_create(2): close-on-exec, may be sealed
int portcullis_memory_seal(int descriptor);  // for good: its size, and that nothing else is sealed; 0, or -1 with errno
int portcullis_memory_is_sealed(int descriptor);  // whether it can neither shrink nor grow; -1 with errno
uint64_t *portcullis_memory_map(int descriptor, size_t bytes);  // shared, to read and write; NULL with errno
void portcullis_memory_unmap(uint64_t *words, size_t bytes);
static inline uint64_t portcullis_memory_load(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
// Behind whatever was stored before.
static inline void portcullis_memory_store(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
// All of them behind whatever was stored before, and in no order among themselves.
static inline void portcullis_memory_store_all(uint64_t *words, const uint64_t *values, size_t count) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (size_t i = 0; i < count; i++) __atomic_store_n(words + i, values[i], __ATOMIC_RELAXED);
}

int portcullis_errno(void);
int portcullis_is_would_block(int error);
