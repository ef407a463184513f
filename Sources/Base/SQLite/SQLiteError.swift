/// What SQLite refused or failed at, sorted by what has to be done about it.
internal import CSQLite
internal import Glibc

package struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Kind: Equatable, Sendable {
    /// Another process has the file.
    case busy
    /// No room on the disk, or no more of it for this user.
    case full
    /// The file cannot be opened, read, written or synced.
    case io
    /// What is in the file is not what was put there, or not a database.
    case corrupt
    /// A row breaks a rule of its table. The only kind after which a transaction can go on.
    case constraint
    /// A statement that is wrong, memory that is not there: our own fault or nobody's.
    case other
  }

  package let kind: Kind
  /// SQLite's extended result code.
  package let code: Int32
  package let message: String

  package init(_ kind: Kind, code: Int32, _ message: String) {
    self.kind = kind
    self.code = code
    self.message = message
  }

  package var description: String { "SQLite: \(message) (\(code))" }

  /// - Parameter systemError: errno of the call that failed, where there was one.
  init(code: Int32, systemError: Int32 = 0, message: String) {
    self.init(Self.kind(code, systemError), code: code, message)
  }

  private static func kind(_ code: Int32, _ systemError: Int32) -> Kind {
    // The low byte is the primary result code.
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_FULL: .full
    // A write over somebody's quota is an error like others to SQLite.
    case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT: .full
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_PROTOCOL: .io
    case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
    case SQLITE_CONSTRAINT: .constraint
    default: .other
    }
  }

  /// A value is not one that was ever put there.
  package static func malformed(column: Int) -> Self {
    SQLiteError(.corrupt, code: SQLITE_CORRUPT, "column \(column) holds a value of another form")
  }

  /// A value is not of the type that its column was declared with.
  static func unexpectedType(column: Int) -> Self {
    SQLiteError(.corrupt, code: SQLITE_CORRUPT, "column \(column) holds a value of another type")
  }
}
