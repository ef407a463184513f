/// SQLite's result codes, sorted by what has to be done about them.
internal import CSQLite
internal import Glibc
internal import SQL

extension SQLError {
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

  /// What the last call on this connection ended with.
  init(lastOf database: OpaquePointer?, _ result: Int32) {
    let extended = unsafe sqlite3_extended_errcode(database)
    // After a call that failed before it reached the connection, the connection tells of an older one.
    let code = extended & 0xff == result & 0xff ? extended : result
    let text = unsafe sqlite3_errmsg(database).map { unsafe String(cString: $0) } ?? ""
    unsafe self.init(code: code, systemError: sqlite3_system_errno(database), message: text)
  }
}
