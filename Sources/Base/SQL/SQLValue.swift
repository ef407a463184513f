/// A value as a database stores it: what is bound to a parameter of a statement.

package enum SQLValue: Equatable, Sendable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  /// What is absent is NULL.
  package static func integer(orNull value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
  package static func text(orNull value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
  package static func blob(orNull value: [UInt8]?) -> SQLValue { value.map { .blob($0) } ?? .null }
  package static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(nilLiteral: ()) { self = .null }
}
