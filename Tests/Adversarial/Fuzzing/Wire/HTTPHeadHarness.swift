/// Request heads (RFC 9112) and the upgrades they ask for: the verdict does not depend on how the bytes come,
/// and a head that is let through has none of what smuggling needs.
internal import Bytes
@testable internal import HTTPWire
@testable internal import WebSocketWire

enum HTTPHeadHarness {
  /// Requests that follow one another are all read, as the gate does.
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    var start = 0
    var heads = 0
    while start < bytes.count, heads < 8 {
      let rest = bytes.span.extracting(start..<bytes.count)
      let whole = readWhole(rest)
      try require(whole == readByteByByte(rest), "whole and byte by byte differ at \(start): \(whole)")
      guard case .head(let head, let consumed) = whole else { break }
      try checkHead(head, rest.extracting(0..<consumed))
      try checkUpgrade(head)
      heads += 1
      start += consumed
    }
    return heads > 0 ? .accepted : .refused
  }

  private static func readWhole(_ bytes: Span<UInt8>) -> Reading {
    var parser = RequestParser()
    return Reading(parser.parse(bytes))
  }

  /// Each call sees one byte more, as a peer that sends them singly has the gate see them.
  private static func readByteByByte(_ bytes: Span<UInt8>) -> Reading {
    var parser = RequestParser()
    for end in 1...bytes.count {
      let reading = Reading(parser.parse(bytes.extracting(0..<end)))
      if reading != .needMore { return reading }
    }
    return .needMore
  }

  // MARK: What is true of every head

  private static func checkHead(_ head: RequestHead, _ bytes: Span<UInt8>) throws(BrokenProperty) {
    try require(bytes.count <= RequestParser.Limits().headBytes, "longer than the limit")
    try require(head.fieldCount <= RequestParser.Limits().fields, "more fields than the limit")
    for index in bytes.indices {
      let byte = bytes[index]
      try require(byte < 0x7F, "a byte that is not ASCII")
      try require(byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D, "a control byte")
      if byte == 0x0A { try require(index > 0 && bytes[index - 1] == 0x0D, "a bare line feed") }
      if byte == 0x0D { try require(bytes[index + 1] == 0x0A, "a bare carriage return") }
    }
    try require(bytes[bytes.count - 3] == 0x0A, "no empty line at the end")

    var hosts = 0
    var lengths = 0
    var codings = 0
    for index in 0..<head.fieldCount {
      let (name, value) = head.field(at: index)
      try require(!name.isEmpty && name.utf8.allSatisfy(TokenSyntax.isTokenByte), "a name that is no token")
      try require(value.utf8.first.map { $0 > 0x20 } ?? true, "white space before a value")
      try require(value.utf8.last.map { $0 > 0x20 } ?? true, "white space behind a value")
      switch name.lowercased() {
      case "host": hosts += 1
      case "content-length":
        lengths += 1
        try require(value.utf8.allSatisfy { (0x30...0x39).contains($0) }, "a length with other than digits")
      case "transfer-encoding":
        codings += 1
        try require(value.lowercased() == "chunked", "a transfer coding was let through: \(value)")
      default: break
      }
    }
    try require(hosts == 1 || (hosts == 0 && head.version == .http10), "\(hosts) hosts")
    try require(lengths <= 1 && (lengths == 1) == (head.bodyLength != nil), "\(lengths) lengths")
    try require(codings <= 1 && (codings == 1) == head.isChunked, "\(codings) transfer codings")
    try require(
      codings == 0 || lengths == 0 && head.version == .http11, "a body that may be read in two ways")
    try require(head.method != .get || (head.bodyLength ?? 0) == 0 && !head.isChunked, "a body on GET")
    try require(head.pathIs(head.path), "the path is not its own")
  }

  /// What the gate grants, its own client understands as it was meant.
  private static func checkUpgrade(_ head: RequestHead) throws(BrokenProperty) {
    guard let request = try? UpgradeRequest(head) else { return }
    try require(request.response().span.count > 100, "a response without its fields")
    guard let agreed = PermessageDeflate.agreed(on: request.extensions, hasRoom: { _ in true }) else {
      return
    }
    guard let understood = PermessageDeflate(answering: Array(agreed.response.utf8)) else {
      throw BrokenProperty("a client cannot read \(agreed.response)")
    }
    try require(
      understood.serverWindowBits == agreed.serverWindowBits
        && understood.clientWindowBits == agreed.clientWindowBits, "windows differ: \(agreed.response)")
  }

  /// A result that can be compared.
  private enum Reading: Equatable {
    case needMore
    case refused(RequestRefusal)
    case head(RequestHead, consumed: Int)

    init(_ result: RequestParser.Result) {
      switch result {
      case .needMore: self = .needMore
      case .refused(let refusal): self = .refused(refusal)
      case .head(let head, let consumed): self = .head(head, consumed: consumed)
      }
    }

    static func == (left: Self, right: Self) -> Bool {
      switch (left, right) {
      case (.needMore, .needMore): true
      case (.refused(let left), .refused(let right)): left == right
      case (.head(let left, let leftCount), .head(let right, let rightCount)):
        leftCount == rightCount && describe(left) == describe(right)
      default: false
      }
    }

    private static func describe(_ head: RequestHead) -> [String] {
      [
        head.methodName, "\(head.version)", head.path, head.query ?? "-", head.host ?? "-",
        "\(head.bodyLength ?? -1) \(head.isChunked) \(head.expectsContinue) \(head.keepsAlive)",
      ] + (0..<head.fieldCount).map { "\(head.field(at: $0))" }
    }
  }
}
