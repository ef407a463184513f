/// A head whose syntax holds, and the review of what it means: framing first (RFC 9112 §6), then the rest
/// (docs/protocol.md, "HTTP").
internal import PortcullisProtocol

struct HeadDraft: Sendable {
  var method = 0..<0
  var target = 0..<0
  var name = 0..<0
  var value = 0..<0
  private(set) var fields: [RequestHead.FieldRange] = []
  private var version = RequestHead.Version.http11
  private var parsedTarget: RequestTarget?

  mutating func endField() {
    fields.append(RequestHead.FieldRange(name: name, value: value))
  }

  /// Judges the version before the target: `PRI * HTTP/2.0` speaks another protocol, not bad syntax.
  mutating func endRequestLine(major: UInt8, minor: UInt8, _ bytes: Span<UInt8>) -> RequestRefusal.Rule? {
    switch (major, minor) {
    case (UInt8(ascii: "1"), UInt8(ascii: "1")): version = .http11
    case (UInt8(ascii: "1"), UInt8(ascii: "0")): version = .http10
    default: return .unknownVersion
    }
    parsedTarget = RequestTarget(bytes, target, method: method)
    return parsedTarget == nil ? .target : nil
  }

  /// `bytes` are the head, from its first byte to its last line feed.
  func reviewed(_ bytes: Span<UInt8>) -> Result<RequestHead, RequestRefusal> {
    guard let parsedTarget else { fatalError("HeadDraft: reviewed before its request line ended") }
    let methodKind = Self.kind(bytes.extracting(method))
    let findings = Findings(fields, bytes)
    if let rule = findings.brokenFraming(version: version, method: methodKind) {
      return .failure(RequestRefusal(rule, isHead: methodKind == .head))
    }
    // What follows a refused CONNECT may be meant for the tunnel, by somebody whom its sender does not trust
    // (RFC 9110 §9.3.6): it is never read as a request.
    let isConnect = Symbol.equal(bytes.extracting(method), "CONNECT")
    let keepsAlive = version == .http11 && !findings.closes && !isConnect
    let hasBody = findings.isChunked || (findings.length ?? 0) > 0
    if let rule = findings.brokenMeaning(fields, bytes) {
      let consumed = keepsAlive && !hasBody ? bytes.count : nil
      return .failure(RequestRefusal(rule, consumed: consumed, isHead: methodKind == .head))
    }
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.count)
    for index in bytes.indices { copy.append(bytes[index]) }
    return .success(
      RequestHead(
        bytes: copy, method: methodKind, methodRange: method, version: version, target: parsedTarget,
        fields: fields, bodyLength: findings.length, isChunked: findings.isChunked,
        // RFC 9110 §10.1.1: not from HTTP/1.0, and pointless without a body.
        expectsContinue: findings.expectsContinue && version == .http11 && hasBody, keepsAlive: keepsAlive))
  }

  private static func kind(_ name: Span<UInt8>) -> RequestHead.Method {
    if Symbol.equal(name, "GET") { return .get }
    if Symbol.equal(name, "POST") { return .post }
    if Symbol.equal(name, "HEAD") { return .head }
    if Symbol.equal(name, "DELETE") { return .delete }
    return .other
  }
}

/// What the fields say about framing and connection, gathered in one walk.
private struct Findings {
  private var hosts = 0
  private var hostIsValid = true
  private var lengths = 0
  private var lengthIsValid = true
  private(set) var length: Int?
  private var codings = 0
  private var codingIsChunked = false
  private(set) var closes = false
  private(set) var expectsContinue = false
  private var expectsMore = false

  init(_ fields: [RequestHead.FieldRange], _ bytes: Span<UInt8>) {
    for field in fields {
      let name = bytes.extracting(field.name)
      let value = bytes.extracting(field.value)
      switch name.count {
      case 4 where Symbol.equalIgnoringCase(name, "host"):
        hosts += 1
        hostIsValid = hostIsValid && HostSyntax.isValid(value)
      case 14 where Symbol.equalIgnoringCase(name, "content-length"):
        lengths += 1
        length = Self.number(value)
        lengthIsValid = lengthIsValid && length != nil
      case 17 where Symbol.equalIgnoringCase(name, "transfer-encoding"):
        codings += 1
        codingIsChunked = Symbol.equalIgnoringCase(value, "chunked")
      case 10 where Symbol.equalIgnoringCase(name, "connection"):
        var elements = ListElements(in: field.value)
        while let element = elements.next(bytes) {
          if Symbol.equalIgnoringCase(bytes.extracting(element), "close") { closes = true }
        }
      case 6 where Symbol.equalIgnoringCase(name, "expect"):
        var elements = ListElements(in: field.value)
        while let element = elements.next(bytes) {
          let isContinue = Symbol.equalIgnoringCase(bytes.extracting(element), "100-continue")
          if isContinue { expectsContinue = true } else { expectsMore = true }
        }
      default: break
      }
    }
  }

  /// That one coding alone: anything else is one that the gate does not speak, or may be read in two ways.
  var isChunked: Bool { codings == 1 && codingIsChunked }

  /// The first rule broken that leaves in doubt where this request ends or whom it is for.
  func brokenFraming(version: RequestHead.Version, method: RequestHead.Method) -> RequestRefusal.Rule? {
    if hosts > 1 { return .hostRepeated }
    if hosts == 0, version == .http11 { return .hostMissing }
    if !hostIsValid { return .host }
    if lengths > 0, codings > 0 { return .lengthWithTransferEncoding }
    // RFC 9112 §6.1: framing that is faulty. Who is in between may not know the field.
    if codings > 0, version == .http10 { return .transferEncodingVersion }
    if codings > 0, !isChunked { return .transferEncoding }
    if lengths > 1 { return .contentLengthRepeated }
    if !lengthIsValid { return .contentLength }
    if method == .get, isChunked || (length ?? 0) > 0 { return .bodyOnGet }
    return nil
  }

  func brokenMeaning(_ fields: [RequestHead.FieldRange], _ bytes: Span<UInt8>) -> RequestRefusal.Rule? {
    for (index, field) in fields.enumerated() where Self.isSingleton(bytes.extracting(field.name)) {
      let name = bytes.extracting(field.name)
      for earlier in fields[..<index] where Symbol.equalIgnoringCase(bytes.extracting(earlier.name), name) {
        return .fieldRepeated
      }
    }
    return expectsMore ? .expectation : nil
  }

  /// The fields that may not come twice (docs/protocol.md, "HTTP"), beside Host and Content-Length.
  private static func isSingleton(_ name: Span<UInt8>) -> Bool {
    Symbol.equalIgnoringCase(name, "content-type") || Symbol.equalIgnoringCase(name, "origin")
      || Symbol.equalIgnoringCase(name, "sec-websocket-key")
      || Symbol.equalIgnoringCase(name, "sec-websocket-version")
      || Symbol.begins(name, with: HeaderName.assertionPrefix, ignoringCase: true)
  }

  /// `1*DIGIT` and nothing else; what no `Int` can hold is `Int.max`, more than any limit allows.
  private static func number(_ digits: Span<UInt8>) -> Int? {
    guard !digits.isEmpty else { return nil }
    var number = 0
    for index in digits.indices {
      guard Symbol.isDigit(digits[index]) else { return nil }
      let (product, overflowed) = number.multipliedReportingOverflow(by: 10)
      let (sum, carried) = product.addingReportingOverflow(Int(digits[index] - UInt8(ascii: "0")))
      number = overflowed || carried || number == Int.max ? Int.max : sum
    }
    return number
  }
}
