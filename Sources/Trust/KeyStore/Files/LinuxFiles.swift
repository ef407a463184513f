/// The store's files on Linux: `open(2)`, `pwrite(2)`, `fdatasync(2)`, `rename(2)`, `flock(2)`.
internal import CLinux
internal import Glibc
package import System

package struct LinuxFiles: StoreFiles {
  package init() {}

  package func resolve(_ path: String) -> String {
    (try? RealPath.of(path)) ?? path
  }

  package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any StoreFile {
    let flags: Int32 =
      switch access {
      case .read: O_RDONLY
      case .write: O_RDWR
      case .create: O_RDWR | O_CREAT | O_EXCL
      }
    return LinuxFile(owning: try openDescriptor(path, flags | O_NOFOLLOW))
  }

  package func identity(of path: String) throws(SystemError) -> FileIdentity? {
    var status = stat()
    if unsafe lstat(path, &status) == 0 { return FileIdentity(status) }
    let error = SystemError("lstat")
    if error.number == ENOENT { return nil }
    throw error
  }

  package func list(_ directory: String) throws(SystemError) -> [String] {
    guard let stream = unsafe opendir(directory) else { throw SystemError("opendir") }
    defer { _ = unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      // d_name is zero-terminated and lies in the entry, which lives until the next readdir; it is copied
      // here.
      let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
      let name = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
      names.append(unsafe String(cString: name))
    }
    if errno != 0 { throw SystemError("readdir") }
    return names
  }

  package func rename(_ old: String, to new: String) throws(SystemError) {
    try FileNames.move(old, to: new)
  }

  package func link(_ old: String, to new: String) throws(SystemError) {
    try FileNames.link(old, as: new)
  }

  package func remove(_ path: String) throws(SystemError) {
    try FileNames.remove(path)
  }

  package func synchronizeDirectory(_ directory: String) throws(SystemError) {
    try FileNames.synchronize(folder: directory)
  }

  package func lock(_ path: String) throws(StoreLockError) -> any StoreLock {
    switch Result(catching: { () throws(SystemError) in try tryLock(path) }) {
    case .success(.taken(let file)): return file
    case .success(.held(let owner)): throw .held(by: owner)
    case .failure(let error): throw .failed(error)
    }
  }

  private enum LockAttempt {
    case taken(LinuxFile)
    case held(by: StoreOwner?)
  }

  private func tryLock(_ path: String) throws(SystemError) -> LockAttempt {
    let file = LinuxFile(owning: try openDescriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW))
    if portcullis_lock(file.descriptor) != 0 {
      let error = SystemError("flock")
      guard portcullis_is_would_block(error.number) != 0 else { throw error }
      let digits = String(decoding: try file.readAll(), as: UTF8.self).prefix { $0 != "\n" }
      return .held(by: .find(inode: try file.identity().inode, noted: Int32(digits)))
    }
    guard try file.identity().isRegular else { throw SystemError("open", EINVAL) }
    // The process id is for operators and for the refusal above. The lock itself is the kernel's, so an old id does no
    // harm.
    try file.truncate(to: 0)
    try file.writeAll(Array("\(getpid())\n".utf8).span, at: 0)
    return .taken(file)
  }

  private func openDescriptor(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
    while true {
      let descriptor = unsafe portcullis_open(path, flags, 0o600)
      if descriptor >= 0 { return descriptor }
      let error = SystemError("open")
      if error.number != EINTR { throw error }
    }
  }
}

/// An open descriptor, closed with the object.
private final class LinuxFile: StoreFile, StoreLock {
  let descriptor: Int32

  init(owning descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    // Never again on EINTR: Linux has freed the number by then. What had to be durable was synced before.
    _ = close(descriptor)
  }

  func identity() throws(SystemError) -> FileIdentity {
    var status = stat()
    if unsafe fstat(descriptor, &status) != 0 { throw SystemError("fstat") }
    return FileIdentity(status)
  }

  func read(_ count: Int, at offset: Int64, into bytes: inout [UInt8]) throws(SystemError) -> Int {
    let start = bytes.count
    var got = 0
    // The array's own tail, `count` bytes long for the length of the call.
    bytes.append(contentsOf: repeatElement(0, count: count))
    repeat {
      got = unsafe bytes.withUnsafeMutableBytes { buffer in
        guard let base = buffer.baseAddress else { return 0 }
        return unsafe pread(descriptor, base + start, count, Int(offset))
      }
    } while got < 0 && errno == EINTR
    let error = SystemError("pread")
    bytes.removeLast(count - max(0, got))
    if got < 0 { throw error }
    return got
  }

  func write(_ bytes: Span<UInt8>, at offset: Int64) throws(SystemError) -> Int {
    while true {
      // The span's own memory, read before the call returns.
      let count = unsafe bytes.withUnsafeBufferPointer { buffer in
        unsafe pwrite(descriptor, buffer.baseAddress, buffer.count, Int(offset))
      }
      if count >= 0 { return count }
      let error = SystemError("pwrite")
      if error.number != EINTR { throw error }
    }
  }

  func truncate(to length: Int64) throws(SystemError) {
    if ftruncate(descriptor, Int(length)) != 0 { throw SystemError("ftruncate") }
  }

  func synchronize() throws(SystemError) {
    // Not tried again on any error: the kernel may have dropped the pages, and a second call would hide it.
    if fdatasync(descriptor) != 0 { throw SystemError("fdatasync") }
  }
}

extension FileIdentity {
  fileprivate init(_ status: stat) {
    self.init(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      isRegular: status.st_mode & S_IFMT == S_IFREG, isLink: status.st_mode & S_IFMT == S_IFLNK)
  }
}
