/// The registry's own values as SQLite stores them, and back: names 16 bytes, hashes 32, times in milliseconds.
internal import Bytes
internal import DeviceWire
internal import SQL
internal import System
internal import Time

extension SQLValue {
  static func id<Kind>(_ identifier: Identifier<Kind>) -> SQLValue { .blob(identifier.bytes) }
  static func id<Kind>(orNull identifier: Identifier<Kind>?) -> SQLValue { .blob(orNull: identifier?.bytes) }
  static func hash(_ bytes: Bytes32) -> SQLValue { .blob(bytes.array) }
  static func hash(orNull bytes: Bytes32?) -> SQLValue { .blob(orNull: bytes?.array) }
  static func time(_ time: UnixTime) -> SQLValue { .integer(time.milliseconds) }
  static func time(orNull time: UnixTime?) -> SQLValue { .integer(orNull: time?.milliseconds) }
}

extension Row {
  /// What `read` makes of the column's value; the file is damaged where it makes nothing of it.
  func value<Value>(_ column: Int, _ read: ([UInt8]) -> Value?) throws(SQLError) -> Value {
    guard let value = read(try blob(column)) else { throw .malformed(column: column) }
    return value
  }

  func word<Value>(_ column: Int, _ read: (String) -> Value?) throws(SQLError) -> Value {
    guard let value = read(try text(column)) else { throw .malformed(column: column) }
    return value
  }

  func number<Value>(_ column: Int, _ read: (Int64) -> Value?) throws(SQLError) -> Value {
    guard let value = read(try integer(column)) else { throw .malformed(column: column) }
    return value
  }

  func id<Kind>(_ column: Int) throws(SQLError) -> Identifier<Kind> {
    guard let id = try withBlob(column, { Identifier<Kind>($0) }) else { throw .malformed(column: column) }
    return id
  }

  func idOrNil<Kind>(_ column: Int) throws(SQLError) -> Identifier<Kind>? {
    isNull(column) ? nil : try id(column)
  }

  func hash(_ column: Int) throws(SQLError) -> Bytes32 {
    guard let hash = try withBlob(column, { Bytes32($0) }) else { throw .malformed(column: column) }
    return hash
  }

  func hashOrNil(_ column: Int) throws(SQLError) -> Bytes32? { isNull(column) ? nil : try hash(column) }
  func time(_ column: Int) throws(SQLError) -> UnixTime { UnixTime(milliseconds: try integer(column)) }
  func timeOrNil(_ column: Int) throws(SQLError) -> UnixTime? { isNull(column) ? nil : try time(column) }
}
