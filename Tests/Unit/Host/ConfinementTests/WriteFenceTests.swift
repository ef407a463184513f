import CLinux
import Glibc
import Obligation
import System
import Testing

@testable import Confinement

/// Each in a process of its own, as a fence stays for ever.
@Suite(
  .enabled(if: Obligation.runs(portcullis_landlock_version() > 0, "Landlock"), "the kernel has no Landlock"))
struct WriteFenceTests {
  static func opened(_ path: String, _ flags: Int32) -> Int32 {
    do throws(SystemError) {
      _ = try OwnedDescriptor.open(path, flags, 0o600)
      return 0
    } catch {
      return error.number
    }
  }

  @Test func onlyTheNamedFoldersCanBeWrittenTo() async {
    await #expect(processExitsWith: .success) {
      let inside = try TemporaryFolder(prefix: "portcullis-inside-")
      let outside = try TemporaryFolder(prefix: "portcullis-outside-")
      let (own, foreign) = (inside.path, outside.path)
      for path in [own + "/old", foreign + "/old"] {
        try WholeFile.write([1], to: path, mode: 0o600, overwriting: true)
      }
      _ = try WriteFence.raise(writableFolders: [own])
      var found: [(name: String, errno: Int32?, expected: Int32)] = [
        ("make", WriteFenceTests.opened(own + "/new", O_WRONLY | O_CREAT), 0),
        ("write", WriteFenceTests.opened(own + "/old", O_WRONLY | O_TRUNC), 0),
        ("folder", unsafe mkdir(own + "/sub", 0o700) == -1 ? errno : 0, 0),
        ("move", unsafe rename(own + "/new", own + "/newer") == -1 ? errno : 0, 0),
        ("link", unsafe link(own + "/old", own + "/second") == -1 ? errno : 0, 0),
        ("make elsewhere", WriteFenceTests.opened(foreign + "/new", O_WRONLY | O_CREAT), EACCES),
        ("write elsewhere", WriteFenceTests.opened(foreign + "/old", O_WRONLY), EACCES),
        ("append elsewhere", WriteFenceTests.opened(foreign + "/old", O_WRONLY | O_APPEND), EACCES),
        ("read elsewhere", WriteFenceTests.opened(foreign + "/old", O_RDONLY), 0),
        ("remove elsewhere", unsafe unlink(foreign + "/old") == -1 ? errno : 0, EACCES),
        ("folder elsewhere", unsafe mkdir(foreign + "/sub", 0o700) == -1 ? errno : 0, EACCES),
        ("move elsewhere", unsafe rename(own + "/old", foreign + "/moved") == -1 ? errno : 0, EACCES),
        ("link to a secret", unsafe symlink("/etc/shadow", own + "/link") == -1 ? errno : 0, EACCES),
      ]
      var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
      found.append(("execve", unsafe execve("/bin/true", &arguments, &arguments) == -1 ? errno : 0, EACCES))
      Attempts.finish(found)
    }
    for prefix in ["portcullis-inside-", "portcullis-outside-"] { removeFolders(prefix) }
  }

  /// The child cannot: that is what the test is about.
  private func removeFolders(_ prefix: String) {
    var found = unsafe glob_t()
    defer { unsafe globfree(&found) }
    guard unsafe glob("/tmp/\(prefix)*", 0, nil, &found) == 0 else { return }
    for index in unsafe 0..<Int(found.gl_pathc) {
      guard let path = unsafe found.gl_pathv[index].map({ unsafe String(cString: $0) }) else { continue }
      for name in ["old", "newer", "second"] { _ = unsafe unlink("\(path)/\(name)") }
      _ = unsafe rmdir(path + "/sub")
      _ = unsafe rmdir(path)
    }
  }

  /// A port of loopback that is listened to, and its number.
  static func listening() -> (descriptor: Int32, address: sockaddr_in) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = unsafe bind(descriptor, pointer, length)
        _ = unsafe getsockname(descriptor, pointer, &length)
      }
    }
    _ = listen(descriptor, 8)
    return (descriptor, address)
  }

  static func called(_ address: sockaddr_in, binding: Bool = false) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = address
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe binding ? bind(descriptor, pointer, length) : connect(descriptor, pointer, length)
        return result == 0 ? 0 : errno
      }
    }
  }

  @Test(
    .enabled(
      if: Obligation.runs(portcullis_landlock_version() >= 6, "Landlock"),
      "the kernel's Landlock is older than 6"))
  func onlyTheGameIsCalledAndNobodyGetsASignal() async {
    await #expect(processExitsWith: .success) {
      let (game, other) = (WriteFenceTests.listening(), WriteFenceTests.listening())
      var fresh = other.address
      fresh.sin_port = 0
      guard game.address.sin_port != 0, WriteFenceTests.called(other.address) == 0, kill(getppid(), 0) == 0
      else {
        exit(EXIT_FAILURE)
      }
      _ = try WriteFence.raise(
        writableFolders: [], tcpPorts: [UInt16(bigEndian: game.address.sin_port)], usesAbstractSockets: false)
      let found: [(name: String, errno: Int32?, expected: Int32)] = [
        ("the game", WriteFenceTests.called(game.address), 0),
        ("another port", WriteFenceTests.called(other.address), EACCES),
        ("a port of its own", WriteFenceTests.called(fresh, binding: true), EACCES),
        ("a signal to the parent", kill(getppid(), 0) == -1 ? errno : 0, EPERM),
        ("a signal to itself", kill(getpid(), 0) == -1 ? errno : 0, 0),
        ("a signal to a thread", pthread_kill(pthread_self(), 0), 0),
      ]
      Attempts.finish(found)
    }
  }

  @Test func aFolderThatIsNotThereIsAnError() async {
    await #expect(processExitsWith: .success) {
      do throws(SystemError) {
        _ = try WriteFence.raise(writableFolders: ["/nowhere/at/all"])
      } catch {
        exit(error.number == ENOENT ? EXIT_SUCCESS : EXIT_FAILURE)
      }
      exit(EXIT_FAILURE)
    }
  }
}
