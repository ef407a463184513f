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
