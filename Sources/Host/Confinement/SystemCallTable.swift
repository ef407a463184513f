/// Which system calls a serving gate needs, and which ones nobody may make in its name.
///
/// The lists are for all architectures; a name that one of them lacks does no harm there.
internal import Glibc

enum SystemCallTable {
  enum Condition: Equatable, Sendable {
    case equals(argument: UInt32, UInt64)
    /// The argument's bits of `mask` are these.
    case masked(argument: UInt32, mask: UInt64, UInt64)
  }

  struct Rule: Equatable, Sendable {
    let name: String
    let conditions: [Condition]

    init(_ name: String, _ conditions: Condition...) {
      self.name = name
      self.conditions = conditions
    }
  }

  static let allowed: [String] =
    descriptors + files + sockets + waiting + memory + threads + signals + asking

  /// Somebody who took the gate over would want these: other programs and processes, the kernel, other users, the
  /// modes of files, a door of his own.
  static let refused: [String] = [
    "execve", "execveat", "fork", "vfork",
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog",
    "iopl", "ioperm", "personality", "acct", "quotactl", "swapon", "swapoff", "settimeofday", "clock_settime",
    "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "keyctl", "add_key", "request_key",
    "mount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick",
    "pivot_root", "chroot", "unshare", "setns", "open_by_handle_at", "name_to_handle_at",
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid",
    "capset", "setrlimit",
    "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "mknod", "mknodat", "symlink",
    "symlinkat", "setxattr", "lsetxattr", "fsetxattr",
    "bind", "listen",
  ]

  /// - Parameter process: the only one that may be sent a signal, as abort(3) does.
  static func conditional(process: Int32) -> [Rule] {
    [AF_UNIX, AF_INET, AF_INET6].map { Rule("socket", .equals(argument: 0, UInt64($0))) } + [
      // A thread of this process, and no other process. clone3 hides its flags in memory: it does not exist, and the
      // C library takes clone.
      Rule("clone", .masked(argument: 0, mask: cloneThread, cloneThread)),
      // Memory is never executable: what gets in as data stays data.
      Rule("mmap", .masked(argument: 2, mask: UInt64(PROT_EXEC), 0)),
      Rule("mprotect", .masked(argument: 2, mask: UInt64(PROT_EXEC), 0)),
      // The resolver asks how much came; the C library may ask whether standard error is a terminal.
      Rule("ioctl", .equals(argument: 1, fionread)), Rule("ioctl", .equals(argument: 1, tcgets)),
      // How much of what was sent to the game is still on its way.
      Rule("ioctl", .equals(argument: 1, siocoutq)),
      Rule("prctl", .equals(argument: 0, setName)), Rule("prctl", .equals(argument: 0, setMemoryName)),
      // Limits are read and not set.
      Rule("prlimit64", .equals(argument: 0, 0), .equals(argument: 2, 0)),
      Rule("tgkill", .equals(argument: 0, UInt64(process))),
    ]
  }

  private static let descriptors = [
    "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "_llseek", "close", "close_range",
    "dup",
    "dup2", "dup3", "fcntl", "fcntl64", "eventfd2", "pipe2",
  ]

  private static let files = [
    "open", "openat", "stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "newfstatat", "fstatat64",
    "statx",
    "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64", "getcwd",
    "rename",
    "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat", "ftruncate",
    "ftruncate64",
    "fsync", "fdatasync", "flock", "fadvise64", "statfs", "fstatfs",
  ]

  private static let sockets = [
    "connect", "accept", "accept4", "getsockname", "getpeername", "getsockopt", "setsockopt", "sendto",
    "recvfrom",
    "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "send", "recv", "shutdown",
  ]

  private static let waiting = [
    "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select",
    "pselect6",
    "nanosleep", "clock_nanosleep",
  ]

  private static let memory = ["brk", "munmap", "mremap", "madvise"]

  private static let threads = [
    "futex", "futex_waitv", "set_robust_list", "get_robust_list", "rseq", "sched_yield", "sched_getaffinity",
    "sched_getparam", "sched_getscheduler", "sched_getattr", "sched_setattr", "getcpu", "membarrier",
    "setpriority", "getpriority", "exit",
    "exit_group", "set_tid_address",
  ]

  private static let signals = [
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "rt_sigpending", "sigaltstack",
    "restart_syscall",
  ]

  private static let asking = [
    "getrandom", "clock_gettime", "clock_getres", "gettimeofday", "time", "getpid", "getppid", "gettid",
    "getuid",
    "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getrlimit", "ugetrlimit",
    "getrusage",
    "uname", "sysinfo", "capget",
  ]

  // linux/sched.h, asm/ioctls.h and linux/prctl.h: macros and hexadecimal constants that Swift does not see.
  private static let cloneThread: UInt64 = 0x10000
  private static let fionread: UInt64 = 0x541B
  private static let tcgets: UInt64 = 0x5401
  private static let siocoutq: UInt64 = 0x5411
  private static let setName: UInt64 = 15
  private static let setMemoryName: UInt64 = 0x5356_4D41
}
