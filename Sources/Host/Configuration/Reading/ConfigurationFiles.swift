/// What the loader asks of the file system, behind a seam, and the file system's answers.
package import Charsets
internal import CLinux
internal import Glibc
package import System

package enum FileKind: Sendable {
  case file
  case directory
  /// A socket, a device, a pipe.
  case other
}

package protocol ConfigurationFiles: Sendable {
  /// Symbolic links are followed; nil when there is nothing.
  func kind(of path: String) -> FileKind?
  func isReadable(_ path: String) -> Bool
  func isWritable(_ path: String) -> Bool
  /// Whether its mode lets others than its owner write to it.
  func isOthersToWrite(_ path: String) -> Bool
  /// Whether its mode leaves it to its owner and to the groups of the gate's user.
  /// - Parameter user: of `RUN_AS`; nil for that of the process.
  func isKept(_ path: String, for user: String?) -> Bool
  /// Whether text can be converted from it; the C library has a file for some charsets.
  func has(_ charset: Charset) -> Bool
}

/// stat(2) and access(2), with the process's real user, which the gate does not change.
package struct SystemFiles: ConfigurationFiles {
  package init() {}

  package func kind(of path: String) -> FileKind? {
    var status = stat()
    // Both pointers live for the call.
    guard unsafe stat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .directory
    default: return .other
    }
  }

  package func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

  package func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

  package func isOthersToWrite(_ path: String) -> Bool {
    (try? FileStatus.of(path))?.isOthersToWrite ?? false
  }

  package func isKept(_ path: String, for user: String?) -> Bool {
    let account = user.flatMap { name in
      Account.named(name) ?? UInt32(name).map { Account.of(user: $0) }
    }
    return (try? FileStatus.of(path))?.isKept(for: account ?? .ofProcess) ?? false
  }

  package func has(_ charset: Charset) -> Bool { CharsetLibrary.isAvailable(charset) }

  /// The bytes of a file, at most one more than `limit`, so that a longer one shows itself.
  package func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = unsafe portcullis_open(path, O_RDONLY, 0)
    guard descriptor >= 0 else { throw SystemError("open") }
    defer { _ = close(descriptor) }
    var contents: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while contents.count <= limit {
      let wanted = min(buffer.count, limit + 1 - contents.count)
      // `wanted` is at most the buffer's size.
      let count = unsafe read(descriptor, &buffer, wanted)
      if count == 0 { break }
      guard count > 0 else {
        if errno == EINTR { continue }
        throw SystemError("read")
      }
      contents += buffer[..<count]
    }
    return contents
  }
}
