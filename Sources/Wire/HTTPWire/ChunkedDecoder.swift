/// Decodes one chunked body (RFC 9112 §7.1) strictly, as its bytes arrive; syntax is judged at the first bad byte.
///
/// A size has 1 to 8 hexadecimal digits. Each line ends with CR LF. Extensions and trailers are refused: the proxies that
/// make chunks of bodies send neither, and both have hidden requests in others' bodies.
package import PortcullisProtocol

package struct ChunkedDecoder: Sendable {
  package enum Violation: String, Error, CaseIterable, Sendable {
    /// A size without a digit, or with a byte that is none.
    case size = "chunk_size"
    case sizeLength = "chunk_size_length"
    case `extension` = "chunk_extension"
    /// CR without LF, or LF without CR.
    case lineEnd = "chunk_line_end"
    /// Data that does not end where its size says.
    case dataEnd = "chunk_data_end"
    case trailer = "chunk_trailer"
    /// Judged by the sizes, before the data comes.
    case bodyLength = "chunked_length"

    package var code: RefusalCode { self == .bodyLength ? .contentTooLarge : .badRequest }
    /// The word for the log.
    package var step: String { rawValue }
  }

  /// Enough for any size that a limit allows; leading zeros count.
  package static let sizeDigits = 8

  /// What the next byte belongs to.
  private enum Place: Sendable {
    case size(digits: Int)
    case sizeLineFeed
    case data
    case dataReturn, dataLineFeed
    case lastReturn, lastLineFeed
    case end
  }

  /// Of the body without its framing.
  private let limit: Int
  private var place = Place.size(digits: 0)
  /// Of the chunk whose size was read last.
  private var left = 0
  private var count = 0

  package init(limit: Int) {
    self.limit = limit
  }

  package var isWhole: Bool {
    if case .end = place { return true }
    return false
  }

  /// Reads on in `bytes`, and adds the data to `body`.
  /// - Returns: how many bytes of them belong to this body: all, unless it is whole.
  package mutating func decode(_ bytes: Span<UInt8>, into body: inout [UInt8]) throws(Violation) -> Int {
    var position = 0
    while position < bytes.count, !isWhole {
      if case .data = place {
        let taken = min(left, bytes.count - position)
        for index in position..<position + taken { body.append(bytes[index]) }
        position += taken
        left -= taken
        if left == 0 { place = .dataReturn }
      } else {
        try advance(bytes[position])
        position += 1
      }
    }
    return position
  }

  private mutating func advance(_ byte: UInt8) throws(Violation) {
    switch place {
    case .size(let digits): try readSize(byte, digits)
    case .sizeLineFeed:
      guard byte == Symbol.lineFeed else { throw .lineEnd }
      place = left > 0 ? .data : .lastReturn
    case .dataReturn:
      guard byte == Symbol.carriageReturn else { throw .dataEnd }
      place = .dataLineFeed
    case .dataLineFeed:
      guard byte == Symbol.lineFeed else { throw .dataEnd }
      place = .size(digits: 0)
    case .lastReturn:
      guard byte == Symbol.carriageReturn else { throw byte == Symbol.lineFeed ? .lineEnd : .trailer }
      place = .lastLineFeed
    case .lastLineFeed:
      guard byte == Symbol.lineFeed else { throw .lineEnd }
      place = .end
    // `decode` takes data itself, and nothing after the end.
    case .data, .end: fatalError("ChunkedDecoder: a byte at a place that has none")
    }
  }

  private mutating func readSize(_ byte: UInt8, _ digits: Int) throws(Violation) {
    if let digit = Self.value(of: byte) {
      guard digits < Self.sizeDigits else { throw .sizeLength }
      left = left << 4 | digit
      place = .size(digits: digits + 1)
      return
    }
    guard digits > 0 else { throw .size }
    switch byte {
    case Symbol.carriageReturn:
      guard left <= limit - count else { throw .bodyLength }
      count += left
      place = .sizeLineFeed
    case Symbol.lineFeed: throw .lineEnd
    // White space before an extension is one of its own (RFC 9112 §7.1.1).
    case UInt8(ascii: ";"), Symbol.space, Symbol.tab: throw .extension
    default: throw .size
    }
  }

  private static func value(of byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
