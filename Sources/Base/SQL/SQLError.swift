/// What an engine refused or failed at, sorted by what has to be done about it.

package struct SQLError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Kind: Equatable, Sendable {
    /// Another process has the file.
    case busy
    /// No room on the disk, or no more of it for this user.
    case full
    /// The file cannot be opened, read, written or synced.
    case io
    /// What is stored is not what was put there, or not a database.
    case corrupt
    /// A row breaks a rule of its table. The only kind after which a transaction can go on.
    case constraint
    /// A statement that is wrong, memory that is not there: our own fault or nobody's.
    case other
  }

  package let kind: Kind
  /// The engine's own: an extended result code of SQLite's.
  package let code: Int32
  package let message: String
  /// Who says so.
  package let engine: String

  package init(_ kind: Kind, code: Int32, _ message: String, by engine: String = "SQLite") {
    self.kind = kind
    self.code = code
    self.message = message
    self.engine = engine
  }

  package var description: String { "\(engine): \(message) (\(code))" }

  /// As SQLite numbers it (SQLITE_CORRUPT).
  private static let corrupt: Int32 = 11

  /// A value is not one that was ever put there.
  package static func malformed(column: Int) -> Self {
    SQLError(.corrupt, code: corrupt, "column \(column) holds a value of another form")
  }

  /// A value is not of the type that its column was declared with.
  package static func unexpectedType(column: Int) -> Self {
    SQLError(.corrupt, code: corrupt, "column \(column) holds a value of another type")
  }
}
