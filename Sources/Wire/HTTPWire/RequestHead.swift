/// A request head that passed every check of the parser: what RFC 9112 and docs/protocol.md, "HTTP" ask of one is true
/// of it.
///
/// It owns one copy of the head's bytes; the fields are ranges in it. All of it is ASCII.
package struct RequestHead: Sendable {
  package enum Method: Sendable {
    case get, head, post, delete, other
  }

  package enum Version: Sendable {
    case http10, http11
  }

  package let method: Method
  package let version: Version
  /// What `Content-Length` says; nil without one. A number too large for `Int` is `Int.max`.
  package let bodyLength: Int?
  /// `Transfer-Encoding: chunked`, which comes without a length: `ChunkedDecoder` reads the body.
  package let isChunked: Bool
  /// The peer waits for `100 Continue` before it sends the body.
  package let expectsContinue: Bool
  /// HTTP/1.1 without `Connection: close`, and no CONNECT; HTTP/1.0 is served and closed.
  package let keepsAlive: Bool

  private let bytes: [UInt8]
  private let methodRange: Range<Int>
  private let target: RequestTarget
  private let fields: [FieldRange]

  struct FieldRange: Sendable {
    let name: Range<Int>
    /// Without the white space around it.
    let value: Range<Int>
  }

  init(
    bytes: [UInt8], method: Method, methodRange: Range<Int>, version: Version, target: RequestTarget,
    fields: [FieldRange], bodyLength: Int?, isChunked: Bool, expectsContinue: Bool, keepsAlive: Bool
  ) {
    self.bytes = bytes
    self.method = method
    self.methodRange = methodRange
    self.version = version
    self.target = target
    self.fields = fields
    self.bodyLength = bodyLength
    self.isChunked = isChunked
    self.expectsContinue = expectsContinue
    self.keepsAlive = keepsAlive
  }

  // MARK: Request line

  package var methodName: String { text(methodRange) }

  /// As sent, without the query; `/` when an absolute target has none. `*` and `host:port` stand for
  /// themselves.
  package var path: String { target.path.isEmpty ? "/" : text(target.path) }

  package func pathIs(_ path: String) -> Bool {
    target.path.isEmpty ? path == "/" : Symbol.equal(bytes.span.extracting(target.path), path)
  }

  package func pathBegins(with prefix: String) -> Bool {
    target.path.isEmpty
      ? "/".hasPrefix(prefix) : Symbol.begins(bytes.span.extracting(target.path), with: prefix)
  }

  /// What follows the first `?`, as sent; nil without one.
  package var query: String? { target.query.map(text) }

  /// `host[:port]`: of an absolute target, which overrides `Host` (RFC 9112 §3.2.2), else of `Host`.
  package var host: String? {
    if let authority = target.authority { return text(authority) }
    return fields.first { isNamed($0, "host") }.map { text($0.value) }
  }

  // MARK: Fields

  package var fieldCount: Int { fields.count }

  /// Names as sent, with their values, in order.
  package func field(at index: Int) -> (name: String, value: String) {
    (text(fields[index].name), text(fields[index].value))
  }

  package func has(_ name: String) -> Bool {
    fields.contains { isNamed($0, name) }
  }

  /// Whether there is any field whose name begins with `prefix`, such as `X-App-Assert-`.
  package func hasField(namePrefix prefix: String) -> Bool {
    fields.contains { Symbol.begins(bytes.span.extracting($0.name), with: prefix, ignoringCase: true) }
  }

  /// The value of a field; those of a repeated one joined by `, ` (RFC 9110 §5.3). Nil without one.
  package func value(_ name: String) -> String? {
    valueBytes(name).map { String(decoding: $0, as: UTF8.self) }
  }

  package func valueBytes(_ name: String) -> [UInt8]? {
    var joined: [UInt8]?
    for field in fields where isNamed(field, name) {
      if joined == nil {
        joined = Array(bytes[field.value])
      } else {
        joined?.append(contentsOf: [Symbol.comma, Symbol.space])
        joined?.append(contentsOf: bytes[field.value])
      }
    }
    return joined
  }

  /// Whether the list in all fields of this name has `token`, in whatever case (RFC 9110 §5.6.1).
  package func hasToken(_ token: String, in name: String) -> Bool {
    for field in fields where isNamed(field, name) {
      var elements = ListElements(in: field.value)
      while let element = elements.next(bytes.span) {
        if Symbol.equalIgnoringCase(bytes.span.extracting(element), token) { return true }
      }
    }
    return false
  }

  /// The elements of the list in all fields of this name, as sent, in order; empty ones are left out.
  package func listElements(_ name: String) -> [String] {
    var list: [String] = []
    for field in fields where isNamed(field, name) {
      var elements = ListElements(in: field.value)
      while let element = elements.next(bytes.span) { list.append(text(element)) }
    }
    return list
  }

  private func isNamed(_ field: FieldRange, _ name: String) -> Bool {
    Symbol.equalIgnoringCase(bytes.span.extracting(field.name), name)
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }
}

/// Walks the elements of one field value of list syntax: commas inside quoted strings do not part (RFC 9110
/// §5.6).
struct ListElements {
  private var position: Int
  private let end: Int

  init(in value: Range<Int>) {
    position = value.lowerBound
    end = value.upperBound
  }

  /// The next element that is not empty, without the white space around it.
  mutating func next(_ bytes: Span<UInt8>) -> Range<Int>? {
    while position < end {
      var first = position
      var quoted = false
      while position < end, quoted || bytes[position] != Symbol.comma {
        if bytes[position] == Symbol.quote { quoted.toggle() }
        if quoted, bytes[position] == UInt8(ascii: "\\"), position + 1 < end { position += 1 }
        position += 1
      }
      var last = position
      position += 1
      while first < last, bytes[first] == Symbol.space || bytes[first] == Symbol.tab { first += 1 }
      while last > first, bytes[last - 1] == Symbol.space || bytes[last - 1] == Symbol.tab { last -= 1 }
      if first < last { return first..<last }
    }
    return nil
  }
}
