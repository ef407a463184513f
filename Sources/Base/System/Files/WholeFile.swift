/// Small files read and replaced as a whole: a crash leaves the old bytes or the new ones, never a mixture.
///
/// The unsafe calls below lend the kernel a path for their duration; none keeps it.
internal import Glibc

package enum WholeFile {
  /// More than any key, certificate or state file here has.
  package static let largest = 1 << 20

  /// The bytes of a file of at most so many; `EFBIG` beyond.
  package static func read(_ path: String, limit: Int = largest) throws(SystemError) -> [UInt8] {
    try read(try OwnedDescriptor.open(path, O_RDONLY, 0), path, limit)
  }

  /// The same of what others put there while the gate serves: what is no file, and would make its reader wait, is `EINVAL`.
  package static func read(regular path: String, limit: Int = largest) throws(SystemError) -> [UInt8] {
    let file = try OwnedDescriptor.open(path, O_RDONLY | O_NONBLOCK, 0)
    var status = stat()
    guard unsafe fstat(file.number, &status) == 0 else { throw SystemError("fstat \(path)") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("read \(path)", EINVAL) }
    return try read(file, path, limit)
  }

  private static func read(
    _ file: borrowing OwnedDescriptor, _ path: String, _ limit: Int
  ) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = try file.read(into: &chunk)
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
      guard bytes.count <= limit else { throw SystemError("read \(path)", EFBIG) }
    }
  }

  /// Writes a new file beside `path`, syncs it, moves it into place and syncs the directory.
  /// - Parameters:
  ///   - mode: of the new file, whatever an old one had, less the umask.
  ///   - overwriting: without it a file that is there already stays and the error is `EEXIST`.
  package static func write(
    _ bytes: [UInt8], to path: String, mode: UInt32, overwriting: Bool
  ) throws(SystemError) {
    let temporary = "\(path).\(getpid()).new"
    // Left behind by a process of the same number that was killed.
    try? FileNames.remove(temporary)
    let file = try OwnedDescriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode)
    do throws(SystemError) {
      try file.writeAll(bytes)
      if fsync(file.number) != 0 { throw SystemError("fsync \(temporary)") }
      if overwriting {
        try FileNames.move(temporary, to: path)
      } else {
        try FileNames.link(temporary, as: path)
        try? FileNames.remove(temporary)
      }
    } catch {
      try? FileNames.remove(temporary)
      throw error
    }
    try FileNames.synchronize(folder: folder(of: path))
  }

  /// A file that is not there is as good as removed.
  package static func remove(_ path: String) throws(SystemError) {
    do throws(SystemError) {
      try FileNames.remove(path)
    } catch {
      if error.number != ENOENT { throw error }
    }
  }

  /// Makes the folder and those above it that are missing.
  package static func makeFolder(_ path: String) throws(SystemError) {
    if unsafe mkdir(path, 0o755) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, folder(of: path) != path else { throw SystemError("mkdir \(path)") }
    try makeFolder(folder(of: path))
    guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else { throw SystemError("mkdir \(path)") }
  }

  package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
