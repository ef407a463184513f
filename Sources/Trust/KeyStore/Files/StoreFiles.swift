/// The seam between the key store and the file system: every file call of the store goes through here.
package import System

/// What the store asks of a file system. Tests put one in its place that loses power.
package protocol StoreFiles: Sendable {
  /// The path with symbolic links followed, so that a replaced file is the real one.
  func resolve(_ path: String) -> String
  /// Fails with `ELOOP` when `path` is a symbolic link, so that nobody who can write to the directory makes the store
  /// read or write a file elsewhere.
  func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any StoreFile
  /// Of the name itself, be it a symbolic link; nil when there is nothing of that name.
  func identity(of path: String) throws(SystemError) -> FileIdentity?
  /// Names, in no order.
  func list(_ directory: String) throws(SystemError) -> [String]
  func rename(_ old: String, to new: String) throws(SystemError)
  /// A second name for the same file; fails across mounts (EXDEV), even those of one file system.
  func link(_ old: String, to new: String) throws(SystemError)
  func remove(_ path: String) throws(SystemError)
  /// Makes names that were created, renamed and removed in it durable.
  func synchronizeDirectory(_ directory: String) throws(SystemError)
  /// Takes the lock file for this process until the lock is let go, and writes the process id into it. A symbolic link
  /// fails with `ELOOP`.
  func lock(_ path: String) throws(StoreLockError) -> any StoreLock
}

package enum FileAccess: Sendable {
  case read
  case write
  /// For writing, mode 0600; the name must be free.
  case create
}

/// An open file; closed when the last reference goes.
package protocol StoreFile: Sendable {
  func identity() throws(SystemError) -> FileIdentity
  /// Appends at most `count` bytes from `offset` to `bytes`; zero at the end.
  func read(_ count: Int, at offset: Int64, into bytes: inout [UInt8]) throws(SystemError) -> Int
  /// May write fewer bytes than it was given.
  func write(_ bytes: Span<UInt8>, at offset: Int64) throws(SystemError) -> Int
  /// Contents and length durable (`fdatasync`).
  func synchronize() throws(SystemError)
}

/// Held until the last reference goes.
package protocol StoreLock: AnyObject, Sendable {}

package enum StoreLockError: Error, Equatable, Sendable {
  /// By this process, where it could be found out.
  case held(by: StoreOwner?)
  case failed(SystemError)
}

/// Which file it is, whatever it is called, and how long.
package struct FileIdentity: Equatable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let size: Int64
  package let isRegular: Bool
  package let isLink: Bool

  package init(device: UInt64, inode: UInt64, size: Int64, isRegular: Bool = true, isLink: Bool = false) {
    self.device = device
    self.inode = inode
    self.size = size
    self.isRegular = isRegular
    self.isLink = isLink
  }

  func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }
}

extension StoreFile {
  /// All of them, or an error.
  func writeAll(_ bytes: Span<UInt8>, at offset: Int64) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let count = try write(bytes.extracting(written..<bytes.count), at: offset + Int64(written))
      // A call that writes nothing and reports no error should not happen; an EIO of our own is better than an endless
      // loop.
      guard count > 0 else { throw SystemError("pwrite", ioError) }
      written += count
    }
  }

  func readAll() throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(try identity().size))
    while try read(1 << 20, at: Int64(bytes.count), into: &bytes) > 0 {}
    return bytes
  }
}

/// EIO.
private let ioError: Int32 = 5
