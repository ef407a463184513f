/// A response as a client reads it (RFC 9112 §4, §6): head first, then as many bytes as Content-Length says.
internal import PortcullisProtocol

package struct GateResponse: Equatable, Sendable {
  package struct Field: Equatable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package let status: Int
  package let fields: [Field]
  package var body: [UInt8]

  /// The value of the first field of this name, in any case.
  package subscript(name: String) -> String? {
    let wanted = name.lowercased()
    return fields.first { $0.name.lowercased() == wanted }?.value
  }

  /// The gate's word for a refusal (docs/protocol.md, "Answers").
  package var errorCode: String? { self[HeaderName.error] }

  package var text: String { String(decoding: body, as: UTF8.self) }
}

package enum ResponseHead {
  /// A gate sends a few hundred bytes; a megabyte of body is more than any of its answers.
  static let largestHead = 16_384
  static let largestBody = 1 << 20

  /// How the body ends.
  package enum Body: Equatable {
    case length(Int)
    case untilClose
  }

  package struct Parsed: Equatable {
    package var response: GateResponse
    package var body: Body
    package var keepsAlive: Bool
    /// Bytes of the head, its empty line included.
    package var length: Int
  }

  /// Nil: more bytes are needed.
  package static func parse(_ bytes: [UInt8]) throws(GateClientError) -> Parsed? {
    guard let end = endOfHead(bytes) else {
      if bytes.count > largestHead { throw .malformedResponse("head beyond \(largestHead) bytes") }
      return nil
    }
    let lines = lines(of: bytes[..<(end - 2)])
    let statusLine = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard statusLine.count >= 2, statusLine[0] == "HTTP/1.1" || statusLine[0] == "HTTP/1.0",
      statusLine[1].utf8.count == 3, let status = digits(statusLine[1]), (100...599).contains(status)
    else { throw .malformedResponse("status line \(lines[0])") }
    var fields: [GateResponse.Field] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
        throw .malformedResponse("field line \(line)")
      }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      fields.append(GateResponse.Field(String(line[..<colon]), trimmedEnd(value)))
    }
    let response = GateResponse(status: status, fields: fields, body: [])
    let body = try bodyLength(of: response)
    let closes = response["Connection"]?.lowercased().contains("close") ?? (statusLine[0] == "HTTP/1.0")
    return Parsed(response: response, body: body, keepsAlive: !closes && body != .untilClose, length: end)
  }

  private static func bodyLength(of response: GateResponse) throws(GateClientError) -> Body {
    // RFC 9112 §6.3: these never have a body.
    if response.status < 200 || response.status == 204 || response.status == 304 { return .length(0) }
    if response["Transfer-Encoding"] != nil { throw .malformedResponse("a transfer coding") }
    guard let text = response["Content-Length"] else { return .untilClose }
    guard let length = digits(text[...]), length <= largestBody else {
      throw .malformedResponse("Content-Length \(text)")
    }
    return .length(length)
  }

  /// Digits alone: `Int` would take a sign.
  private static func digits(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    let mark: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    guard bytes.count >= 4 else { return nil }
    for start in 0...(bytes.count - 4) where bytes[start..<(start + 4)].elementsEqual(mark) {
      return start + 4
    }
    return nil
  }

  /// Without their CRLF; a line feed alone ends no line.
  private static func lines(of head: ArraySlice<UInt8>) -> [String] {
    var lines: [String] = []
    var start = head.startIndex
    for index in head.indices.dropFirst() where head[index] == 0x0A && head[index - 1] == 0x0D {
      lines.append(String(decoding: head[start..<(index - 1)], as: UTF8.self))
      start = index + 1
    }
    return lines
  }

  private static func trimmedEnd(_ text: Substring) -> String {
    var text = text
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}
