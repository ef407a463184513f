/// What is left on the file system that a file lies on (statvfs(3)); may wait for the disk.
internal import Glibc

package struct DiskSpace: Equatable, Sendable {
  /// For users other than root.
  package let freeBytes: UInt64
  package let bytes: UInt64
  /// Nil where the file system does not count them.
  package let freeFiles: UInt64?

  package init(freeBytes: UInt64, bytes: UInt64, freeFiles: UInt64?) {
    self.freeBytes = freeBytes
    self.bytes = bytes
    self.freeFiles = freeFiles
  }

  package static func of(_ path: String) throws(SystemError) -> DiskSpace {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { throw SystemError("statvfs") }
    let unit = UInt64(status.f_frsize)
    return DiskSpace(
      freeBytes: saturated(UInt64(status.f_bavail), unit), bytes: saturated(UInt64(status.f_blocks), unit),
      freeFiles: status.f_files == 0 ? nil : UInt64(status.f_favail))
  }

  /// What to do about a write that found no room; nil of an error that is another.
  package static func remedy(for error: SystemError, at path: String) -> String? {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    switch error.number {
    case ENOSPC:
      let left = (try? of(folder)).map { space in
        space.freeFiles == 0 ? ", which has no inode left" : ", which has \(space.freeBytes) bytes free"
      }
      return "make room on the file system of \(folder)\(left ?? "")"
    case EDQUOT:
      return "raise the quota of the gate's user on the file system of \(folder), or make room there"
    default: return nil
    }
  }

  private static func saturated(_ count: UInt64, _ unit: UInt64) -> UInt64 {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    return overflow ? .max : product
  }
}
