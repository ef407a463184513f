/// What SQLite is told once for the whole process, and where its own words go.
internal import CSQLite
package import SQL
internal import Synchronization

package enum SQLiteLibrary {
  /// A line of SQLite's own log (sqlite.org/errlog.html): a call that failed, a file that was recovered.
  package struct Report: Equatable, Sendable {
    /// An extended result code; of those whose low byte is 27 or 28 (notice, warning) nothing failed.
    package let code: Int32
    package let message: String

    package var isFailure: Bool { code & 0xff != SQLITE_NOTICE && code & 0xff != SQLITE_WARNING }
  }

  /// A type of its own: a function that stands in a generic place by itself is wrapped anew whenever it is looked at.
  private struct Listener {
    var report: (@Sendable (Report) -> Void)?
  }

  /// SQLite has one log for all connections; nobody listens to it unless a program says so.
  private static let listener = Mutex(Listener())

  /// From now on; of a connection's thread, in the middle of a call of SQLite's, which it must not enter again.
  package static func listen(_ report: (@Sendable (Report) -> Void)?) {
    listener.withLock { $0.report = report }
  }

  /// Opening a database does it; code that calls SQLite directly has to do it first.
  package static func start() throws(SQLError) {
    if let error = failure { throw error }
  }

  /// Done on first use, once.
  private static let failure: SQLError? = {
    let result = unsafe portcullis_sqlite_configure { _, code, message in
      // A zero-terminated text that lives for the length of the call; it is copied here.
      guard let message = unsafe message else { return }
      let report = unsafe Report(code: code, message: String(cString: message))
      SQLiteLibrary.listener.withLock { $0.report }?(report)
    }
    return result == SQLITE_OK ? nil : SQLError(code: result, message: "the library cannot be configured")
  }()
}
