/// The four forms of a request target (RFC 9112 §3.2) and the syntax of the host they and `Host` name.
internal import Addresses

struct RequestTarget: Equatable, Sendable {
  /// `host[:port]`, in absolute form only.
  var authority: Range<Int>?
  /// Empty in absolute form without a path, which means `/`.
  var path: Range<Int>
  /// What follows `?`, if there is one.
  var query: Range<Int>?

  /// Nil unless `bytes[range]` is a target that `method` may have. `*` belongs to OPTIONS, and CONNECT has
  /// `host:port` and nothing else: both are read, so that they are refused as methods (405) and not as bad
  /// syntax.
  init?(_ bytes: Span<UInt8>, _ range: Range<Int>, method: Range<Int>) {
    let target = bytes.extracting(range)
    guard !target.isEmpty, Symbol.percentEncodingIsWhole(target) else { return nil }
    let methodName = bytes.extracting(method)
    if Symbol.equal(methodName, "CONNECT") {
      guard HostSyntax.isValid(target, withPort: true) else { return nil }
      (authority, path, query) = (nil, range, nil)
      return
    }
    if target[0] == Symbol.slash {
      authority = nil
      (path, query) = Self.split(bytes, range)
      return
    }
    if Symbol.equal(target, "*") {
      guard Symbol.equal(methodName, "OPTIONS") else { return nil }
      (authority, path, query) = (nil, range, nil)
      return
    }
    guard
      let scheme = ["http://", "https://"].first(where: {
        Symbol.begins(target, with: $0, ignoringCase: true)
      })
    else { return nil }
    let start = range.lowerBound + scheme.utf8.count
    var end = start
    while end < range.upperBound, bytes[end] != Symbol.slash, bytes[end] != Symbol.question { end += 1 }
    guard HostSyntax.isValid(bytes.extracting(start..<end)) else { return nil }
    authority = start..<end
    (path, query) = Self.split(bytes, end..<range.upperBound)
  }

  private static func split(_ bytes: Span<UInt8>, _ range: Range<Int>) -> (
    path: Range<Int>, query: Range<Int>?
  ) {
    for index in range where bytes[index] == Symbol.question {
      return (range.lowerBound..<index, index + 1..<range.upperBound)
    }
    return (range, nil)
  }
}

/// `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2), never empty and without user information.
enum HostSyntax {
  /// - Parameter withPort: whether a port that can be called has to be there (RFC 9110 §9.3.6).
  static func isValid(_ bytes: Span<UInt8>, withPort: Bool = false) -> Bool {
    guard !bytes.isEmpty else { return false }
    var end = 0
    if bytes[0] == UInt8(ascii: "[") {
      while end < bytes.count, bytes[end] != UInt8(ascii: "]") { end += 1 }
      guard end < bytes.count, IPAddress(parsing: bytes.extracting(1..<end))?.family == .v6 else {
        return false
      }
      end += 1
    } else {
      while end < bytes.count, bytes[end] != Symbol.colon {
        guard Symbol.isHostName(bytes[end]) || bytes[end] == Symbol.percent else { return false }
        end += 1
      }
      guard end > 0, Symbol.percentEncodingIsWhole(bytes.extracting(0..<end)) else { return false }
    }
    if end == bytes.count { return !withPort }
    guard bytes[end] == Symbol.colon else { return false }
    var port = 0
    for index in end + 1..<bytes.count {
      guard Symbol.isDigit(bytes[index]) else { return false }
      port = port * 10 + Int(bytes[index] - UInt8(ascii: "0"))
      guard port <= 65_535 else { return false }
    }
    return !withPort || port > 0
  }
}
