import Glibc
import Obligation
import System
import Testing

@testable import Confinement

/// Each in a process of its own, as a filter stays for ever.
@Suite(
  .enabled(if: Obligation.runs(SystemCallFilter.isAvailable, "seccomp"), "the kernel has no seccomp filters"))
struct SystemCallFilterTests {
  @Test func noCallIsBothAllowedAndRefused() {
    let conditional = Set(SystemCallTable.conditional(process: 1).map(\.name))
    let allowed = Set(SystemCallTable.allowed)
    let refused = Set(SystemCallTable.refused)
    #expect(allowed.isDisjoint(with: refused) && allowed.isDisjoint(with: conditional))
    #expect(refused.isDisjoint(with: conditional))
    #expect(allowed.count == SystemCallTable.allowed.count && refused.count == SystemCallTable.refused.count)
  }

  /// Every call of the list, with arguments that would fail in another way or do nothing.
  @Test func whatIsRefusedFails() async {
    await #expect(processExitsWith: .success) {
      try SystemCallFilter.prepare().install()
      Attempts.finish(
        SystemCallTable.refused.map { ($0, Attempts.errno(of: $0, -1, -1, -1, -1, -1, -1), EPERM) })
    }
  }

  @Test func noOtherProgramAndNoOtherProcess() async {
    await #expect(processExitsWith: .success) {
      try SystemCallFilter.prepare().install()
      var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
      let executed = unsafe execve("/bin/true", &arguments, &arguments) == -1 ? errno : 0
      var child = pid_t()
      // posix_spawn makes a process by clone without CLONE_THREAD, after clone3 was not there.
      let spawned = unsafe posix_spawn(&child, "/bin/true", nil, nil, &arguments, nil)
      Attempts.finish([
        ("execve", executed, EPERM), ("posix_spawn", spawned, ENOSYS),
        ("fork", Attempts.errno(of: "fork"), EPERM),
        ("clone", Attempts.errno(of: "clone", Int(SIGCHLD)), ENOSYS),
        ("clone3", Attempts.errno(of: "clone3", 0, 0), ENOSYS),
        ("ptrace", Attempts.errno(of: "ptrace", 0), EPERM),
        ("kill", kill(getppid(), 0) == -1 ? errno : 0, EPERM),
        ("tgkill of another", Attempts.errno(of: "tgkill", Int(getppid()), Int(getppid()), 0), ENOSYS),
      ])
    }
  }

  @Test func noOtherKindsOfSocketAndNoDoorOfItsOwn() async {
    await #expect(processExitsWith: .success) {
      let before = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      try SystemCallFilter.prepare().install()
      func opened(_ family: Int32, _ type: __socket_type) -> Int32 {
        socket(family, Int32(type.rawValue), 0) == -1 ? errno : 0
      }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      let bound = unsafe withUnsafeBytes(of: &address) { bytes in
        unsafe bind(before, bytes.bindMemory(to: sockaddr.self).baseAddress, 16) == -1 ? errno : 0
      }
      Attempts.finish([
        ("AF_PACKET", opened(AF_PACKET, SOCK_RAW), ENOSYS),
        ("AF_NETLINK", opened(AF_NETLINK, SOCK_RAW), ENOSYS),
        ("AF_INET", opened(AF_INET, SOCK_STREAM), 0), ("AF_INET6", opened(AF_INET6, SOCK_STREAM), 0),
        ("AF_UNIX", opened(AF_UNIX, SOCK_STREAM), 0),
        ("bind", bound, EPERM), ("listen", listen(before, 1) == -1 ? errno : 0, EPERM),
      ])
    }
  }

  @Test func noMemoryIsExecutable() async {
    await #expect(processExitsWith: .success) {
      try SystemCallFilter.prepare().install()
      func mapped(_ protection: Int32) -> Int32 {
        unsafe mmap(nil, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0
      }
      let page = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      Attempts.finish([
        ("mmap of data", mapped(PROT_READ | PROT_WRITE), 0),
        ("mmap of code", mapped(PROT_READ | PROT_EXEC), ENOSYS),
        ("mprotect to code", unsafe mprotect(page, 4096, PROT_READ | PROT_EXEC) == -1 ? errno : 0, ENOSYS),
        ("mprotect of data", unsafe mprotect(page, 4096, PROT_READ) == -1 ? errno : 0, 0),
      ])
    }
  }

  /// What the gate does all the time goes on, in threads that start later, too.
  @Test func whatIsNeededWorks() async {
    await #expect(processExitsWith: .success) {
      try SystemCallFilter.prepare().install()
      let folder = try TemporaryFolder(prefix: "portcullis-filter-")
      try WholeFile.write([1, 2, 3], to: folder.path + "/file", mode: 0o600, overwriting: true)
      let read = try WholeFile.read(folder.path + "/file")
      folder.remove()
      let refused = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
      nonisolated(unsafe) let answer = unsafe refused
      let thread = try Thread(name: "later", niceness: 10) {
        unsafe answer.pointee = Attempts.errno(of: "ptrace", 0) ?? 0
      }
      thread.join()
      Attempts.finish([
        ("files", read == [1, 2, 3] ? 0 : 1, 0), ("a later thread", unsafe answer.pointee, EPERM),
      ])
    }
  }
}
