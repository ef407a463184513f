/// The mode of a UNIX socket: the user's alone from its first moment, and changed only where it is still the same file.
import CLinux
import Glibc
import System
import Testing

@testable import Sockets

@Suite struct SocketModeTests {
  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  @Test(arguments: [0o000, 0o022, 0o777] as [mode_t]) func itIsTheUsersAlone(mask: mode_t) async {
    await #expect(processExitsWith: .success) { [mask] in
      _ = umask(mask)
      let path = "/tmp/portcullis-mode-\(getpid()).sock"
      let listener = try UnixListener.bind(path)
      let mode = SocketModeTests.status(path)?.st_mode
      listener.remove()
      exit(mode == S_IFSOCK | 0o600 ? 0 : 1)
    }
  }

  /// Attack: the folder's owner puts a link in the socket's place before a gate that root has started gives it its mode.
  @Test func nothingElseGetsTheMode() throws {
    let folder = try TemporaryFolder(prefix: "mode-")
    let (secret, path) = (folder.path + "/secret", folder.path + "/socket")
    try WholeFile.write([1], to: secret, mode: 0o600, overwriting: true)
    let own = try #require(Self.status(secret))
    try WholeFile.write([1], to: path, mode: 0o600, overwriting: true)
    let socket = try #require(Self.status(path))
    let (device, inode) = (UInt64(socket.st_dev), UInt64(socket.st_ino))
    #expect(unsafe portcullis_chmod_same(path, device, inode, 0o660) == 0)
    #expect(Self.status(path)?.st_mode == S_IFREG | 0o660)
    try FileNames.remove(path)
    #expect(unsafe symlink(secret, path) == 0)
    #expect(unsafe portcullis_chmod_same(path, device, inode, 0o660) == -1)
    #expect(unsafe portcullis_chmod_same(path, UInt64(own.st_dev), UInt64(own.st_ino), 0o660) == -1)
    #expect(unsafe portcullis_chmod_same(secret, device, inode, 0o660) == -1 && errno == ESTALE)
    #expect(Self.status(secret)?.st_mode == own.st_mode)
    for path in [path, secret] { try FileNames.remove(path) }
    folder.remove()
  }
}
