/// Reads request heads (RFC 9112 §2 to §5) strictly, as their bytes arrive; syntax is judged at the first bad
/// byte.
package struct RequestParser: Sendable {
  /// What a peer may make us look at before it has said what it wants (docs/settings.md, "More about some limits").
  package struct Limits: Sendable {
    /// An iOS upgrade with an assertion takes about 1 KiB; 8 KiB is what servers commonly allow.
    package var headBytes: Int
    /// Ours come with about 15.
    package var fields: Int

    package init(headBytes: Int = 8192, fields: Int = 64) {
      self.headBytes = headBytes
      self.fields = fields
    }
  }

  package enum Result: Sendable {
    /// Call again with the same bytes and more behind them.
    case needMore
    /// The first `consumed` bytes are the head; what follows is its body or the next request.
    case head(RequestHead, consumed: Int)
    /// Said again on every further call.
    case refused(RequestRefusal)
  }

  private let limits: Limits
  /// Every byte before it has been judged.
  private var position = 0
  private var place = Place.start
  private var draft = HeadDraft()
  private var refusal: RequestRefusal?

  package init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Whether a byte of the next request has come: the difference between an idle peer and a slow one.
  package var hasBegun: Bool { position > 0 }

  /// Reads on in `bytes`, which begin where the previous head ended. After a head the parser is ready for the
  /// next.
  package mutating func parse(_ bytes: Span<UInt8>) -> Result {
    if let refusal { return .refused(refusal) }
    while position < bytes.count {
      if place == .value, passVisible(bytes) { continue }
      let byte = bytes[position]
      if place == .lastLineFeed, byte == Symbol.lineFeed { return finish(bytes.extracting(0...position)) }
      if let rule = advance(byte, bytes) { return refuse(RequestRefusal(rule)) }
      position += 1
      if position >= limits.headBytes {
        return refuse(RequestRefusal(place < .lineStart ? .requestLineLength : .headLength))
      }
    }
    return .needMore
  }

  /// Takes the visible bytes of a value that follow each other, which most of a head are, all but the last that the limit
  /// allows. False when there are none.
  private mutating func passVisible(_ bytes: Span<UInt8>) -> Bool {
    let end = min(bytes.count, limits.headBytes - 1)
    var index = position
    while index < end, (0x21...0x7E).contains(bytes[index]) { index += 1 }
    guard index > position else { return false }
    draft.value = (draft.value.isEmpty ? position : draft.value.lowerBound)..<index
    position = index
    return true
  }

  private mutating func finish(_ bytes: Span<UInt8>) -> Result {
    switch draft.reviewed(bytes) {
    case .success(let head):
      self = RequestParser(limits: limits)
      return .head(head, consumed: bytes.count)
    case .failure(let refusal):
      return refuse(refusal)
    }
  }

  private mutating func refuse(_ refusal: RequestRefusal) -> Result {
    // Where the connection may live on, the next request is read by a parser that knows nothing of this one.
    if refusal.connectionMayLive {
      self = RequestParser(limits: limits)
    } else {
      self.refusal = refusal
    }
    return .refused(refusal)
  }

  // MARK: The grammar, one byte at a time

  /// What the byte at `position` belongs to, in the order of a head.
  private enum Place: Int, Comparable, Sendable {
    case start, emptyLineFeed, afterEmptyLine, method, target, version, requestLineFeed
    case lineStart, name, value, valueLineFeed, lastLineFeed

    static func < (left: Place, right: Place) -> Bool { left.rawValue < right.rawValue }
  }

  /// The rule that `byte` breaks, or nil when it may stand where it does.
  private mutating func advance(_ byte: UInt8, _ bytes: Span<UInt8>) -> RequestRefusal.Rule? {
    switch place {
    case .start, .afterEmptyLine:
      return beginRequestLine(byte)
    case .emptyLineFeed:
      return lineFeed(byte, then: .afterEmptyLine)
    case .method:
      return readMethod(byte)
    case .target:
      return readTarget(byte)
    case .version:
      return readVersion(byte, bytes)
    case .requestLineFeed:
      return lineFeed(byte, then: .lineStart)
    case .lineStart:
      return beginLine(byte)
    case .name:
      return readName(byte)
    case .value:
      return readValue(byte)
    case .valueLineFeed:
      if byte == Symbol.lineFeed { draft.endField() }
      return lineFeed(byte, then: .lineStart)
    case .lastLineFeed:
      // The line feed itself was taken by `parse`.
      return .bareCarriageReturn
    }
  }

  private mutating func lineFeed(_ byte: UInt8, then next: Place) -> RequestRefusal.Rule? {
    guard byte == Symbol.lineFeed else { return .bareCarriageReturn }
    place = next
    return nil
  }

  private mutating func beginRequestLine(_ byte: UInt8) -> RequestRefusal.Rule? {
    switch byte {
    case Symbol.carriageReturn:
      // RFC 9112 §2.2 asks for patience with one empty line; a peer that sends more is not speaking HTTP.
      guard place == .start else { return .emptyLine }
      place = .emptyLineFeed
      return nil
    case Symbol.lineFeed:
      return .bareLineFeed
    default:
      guard Symbol.isToken(byte) else { return .method }
      draft.method = position..<position + 1
      place = .method
      return nil
    }
  }

  private mutating func readMethod(_ byte: UInt8) -> RequestRefusal.Rule? {
    if byte == Symbol.space {
      draft.target = position + 1..<position + 1
      place = .target
      return nil
    }
    if byte == Symbol.lineFeed { return .bareLineFeed }
    guard Symbol.isToken(byte) else { return .method }
    draft.method = draft.method.lowerBound..<position + 1
    return nil
  }

  private mutating func readTarget(_ byte: UInt8) -> RequestRefusal.Rule? {
    if byte == Symbol.space {
      guard !draft.target.isEmpty else { return .target }
      place = .version
      return nil
    }
    if byte == Symbol.lineFeed { return .bareLineFeed }
    guard Symbol.isTarget(byte) else { return .target }
    draft.target = draft.target.lowerBound..<position + 1
    return nil
  }

  private mutating func readVersion(_ byte: UInt8, _ bytes: Span<UInt8>) -> RequestRefusal.Rule? {
    let index = position - draft.target.upperBound - 1
    if byte == Symbol.lineFeed { return .bareLineFeed }
    switch index {
    case 5: return Symbol.isDigit(byte) ? nil : .version
    case 7:
      guard Symbol.isDigit(byte) else { return .version }
      return draft.endRequestLine(major: bytes[position - 2], minor: byte, bytes)
    case 8:
      place = .requestLineFeed
      return byte == Symbol.carriageReturn ? nil : .version
    default:
      return byte == Self.versionPattern[index] ? nil : .version
    }
  }

  /// `HTTP-version` (RFC 9112 §2.3) with its two digits left open.
  private static let versionPattern = Array("HTTP/0.0".utf8)

  private mutating func beginLine(_ byte: UInt8) -> RequestRefusal.Rule? {
    switch byte {
    case Symbol.carriageReturn:
      place = .lastLineFeed
      return nil
    case Symbol.lineFeed: return .bareLineFeed
    case Symbol.space, Symbol.tab: return .foldedLine
    default:
      guard Symbol.isToken(byte) else { return .fieldName }
      guard draft.fields.count < limits.fields else { return .fieldCount }
      draft.name = position..<position + 1
      place = .name
      return nil
    }
  }

  private mutating func readName(_ byte: UInt8) -> RequestRefusal.Rule? {
    switch byte {
    case Symbol.colon:
      draft.value = position + 1..<position + 1
      place = .value
      return nil
    case Symbol.lineFeed: return .bareLineFeed
    case Symbol.space, Symbol.tab: return .spaceBeforeColon
    default:
      guard Symbol.isToken(byte) else { return .fieldName }
      draft.name = draft.name.lowerBound..<position + 1
      return nil
    }
  }

  private mutating func readValue(_ byte: UInt8) -> RequestRefusal.Rule? {
    switch byte {
    case Symbol.carriageReturn:
      place = .valueLineFeed
      return nil
    case Symbol.lineFeed: return .bareLineFeed
    case Symbol.space, Symbol.tab: return nil
    default:
      guard Symbol.isValue(byte) else { return .fieldValue }
      draft.value = (draft.value.isEmpty ? position : draft.value.lowerBound)..<position + 1
      return nil
    }
  }
}
