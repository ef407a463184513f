/// Room on the disk that is kept for revocations: a file of no use that is given up when there is no other.
internal import Glibc
internal import System
internal import Time

package protocol StoreReserve: Sendable {
  /// Takes the room, where it is not taken and there is plenty.
  /// - Returns: whether it is taken.
  func keep() -> Bool
  /// - Returns: whether there was any to give up.
  func giveUp() -> Bool
}

/// 16 MiB in a file beside the store's.
package struct FileReserve: StoreReserve {
  package static let bytes = 16 << 20
  private static let pieceBytes = 1 << 16

  private let path: String

  /// - Parameter store: the path of the store's own file.
  package init(beside store: String) {
    path = store + ".reserve"
  }

  /// The call is part of its group.
  package func keep() -> Bool {
    var status = stat()
    // Each call here lends the kernel a path, or a structure to fill, for its duration.
    if unsafe lstat(path, &status) == 0, status.st_size == Self.bytes { return true }
    var space = statvfs()
    guard unsafe statvfs(path.folder, &space) == 0 else { return false }
    // Not the last that others have: a disk that has just so much is as good as full.
    guard UInt64(space.f_bavail) * UInt64(space.f_frsize) >= UInt64(4 * Self.bytes) else { return false }
    try? FileNames.remove(path)
    do throws(SystemError) {
      let file = try OwnedDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
      // Random, as no file system makes that smaller.
      for _ in 0..<Self.bytes / Self.pieceBytes { try file.writeAll(KernelEntropy().bytes(Self.pieceBytes)) }
      guard fdatasync(file.number) == 0 else { throw SystemError("fdatasync") }
      return true
    } catch {
      try? FileNames.remove(path)
      return false
    }
  }

  package func giveUp() -> Bool { (try? FileNames.remove(path)) != nil }
}

extension String {
  /// Of a path, the folder that its file is in.
  var folder: String {
    guard let slash = lastIndex(of: "/") else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }
}
