/// The file of a database before SQLite sees it: ours alone, and no link.
internal import CSQLite
internal import SQL
internal import Glibc
internal import System

enum DatabaseFile {
  /// Makes an empty file if there is none, and sees to it that nobody else may read it. SQLite gives the files that it
  /// puts beside it the same mode.
  /// - Returns: the path without links, as SQLite refuses them anywhere on the way.
  static func prepare(_ path: String) throws(SQLError) -> String {
    try naming { () throws(SystemError) in
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { String(path[...$0]) } ?? "."
      let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
      let real = try RealPath.of(folder)
      let place = (real == "/" ? "" : real) + "/" + name
      try makeOwn(place, in: real)
      return place
    }
  }

  /// A new file; fails where there is one already.
  static func create(_ path: String, in folder: String) throws(SQLError) {
    try naming { () throws(SystemError) in
      let file = try OwnedDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
      try makePrivate(file, path)
      try FileNames.synchronize(folder: folder)
    }
  }

  private static func makeOwn(_ path: String, in folder: String) throws(SystemError) {
    let file = try OwnedDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
    if try makePrivate(file, path) == 0 { try FileNames.synchronize(folder: folder) }
  }

  /// Whatever mode it had, or the umask left of it. A file that is in order is left alone, as the sandbox knows no
  /// changes of modes.
  /// - Returns: its size.
  @discardableResult
  private static func makePrivate(
    _ file: borrowing OwnedDescriptor, _ path: String
  ) throws(SystemError) -> Int {
    var status = stat()
    // Fills the structure and keeps nothing.
    guard unsafe fstat(file.number, &status) == 0 else { throw SystemError("fstat \(path)") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open \(path)", EINVAL) }
    if status.st_mode & 0o7777 != 0o600, fchmod(file.number, 0o600) != 0 {
      throw SystemError("fchmod \(path)")
    }
    return status.st_size
  }

  static func naming<Value>(
    _ body: () throws(SystemError) -> Value
  ) throws(SQLError) -> Value {
    do throws(SystemError) {
      return try body()
    } catch {
      let kind: SQLError.Kind = error.number == ENOSPC || error.number == EDQUOT ? .full : .io
      throw SQLError(kind, code: SQLITE_CANTOPEN, "\(error)")
    }
  }
}
