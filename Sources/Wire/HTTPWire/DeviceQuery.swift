/// The query of a request about devices: members that the endpoint knows, each once, and their values (RFC 3986 §3.4).
package struct DeviceQuery: Equatable, Sendable {
  package enum Name: String, CaseIterable, Sendable {
    /// Where a list goes on.
    case after
    /// Of a pairing: what the phone has committed to.
    case reveal
    /// Seconds that the answer may take.
    case wait
    /// What a challenge is for.
    case purpose
    /// Whose registration a challenge is for.
    case key
  }

  /// Why a query is refused, as the log names it.
  package enum Malformed: String, Error, Equatable, Sendable {
    case unknownName = "query_name"
    case repeatedName = "query_repeated"
    case value = "query_value"
  }

  /// An answer is never waited for longer: what stands between the gate and a phone may forget an idle connection.
  package static let longestWait = 25

  private var values: [Name: String] = [:]

  /// - Parameter text: what follows the `?`; nil without one.
  package init(_ text: String?, allowing names: Set<Name>) throws(Malformed) {
    guard let text, !text.isEmpty else { return }
    for pair in text.split(separator: "&", omittingEmptySubsequences: false) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Name(rawValue: String(parts[0])), names.contains(name) else { throw .unknownName }
      guard values[name] == nil else { throw .repeatedName }
      guard parts.count == 2, let value = Self.decode(parts[1].utf8) else { throw .value }
      values[name] = value
    }
    if let wait = values[.wait], Self.seconds(wait) == nil { throw .value }
  }

  package subscript(name: Name) -> String? { values[name] }

  /// How long the answer may take; nil when it is wanted at once.
  package var wait: Duration? {
    guard let seconds = values[.wait].flatMap(Self.seconds), seconds > 0 else { return nil }
    return .seconds(min(seconds, Self.longestWait))
  }

  /// Whether the query has such a member, whatever else is wrong with it.
  package static func names(_ name: Name, in text: String) -> Bool {
    text.split(separator: "&").contains { $0.prefix { $0 != "=" } == name.rawValue }
  }

  /// Whether it has one of exactly this value.
  package static func has(_ name: Name, _ value: String, in text: String) -> Bool {
    text.split(separator: "&").contains { $0 == "\(name.rawValue)=\(value)" }
  }

  private static func seconds(_ text: String) -> Int? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  /// With `%` and two digits for a byte, as some clients write what need not be escaped; nil unless it is visible ASCII.
  private static func decode(_ text: Substring.UTF8View) -> String? {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let digits = String(rest.prefix(2)), let byte = UInt8(digits, radix: 16) else { return nil }
      rest = rest.dropFirst(2)
      bytes.append(byte)
    }
    return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
