/// Reads DER elements one after the other from a range of bytes; every head must be the shortest (X.690
/// §10.1).
package struct DERReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var position: Int
  private let end: Int

  /// Ranges that the reader returns are those of `bytes`, also when it reads only a part of it.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>, in range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>) {
    self.init(bytes, in: 0..<bytes.count)
  }

  package var isAtEnd: Bool { position == end }

  @_lifetime(self: copy self)
  package mutating func next() throws(DERError) -> DERElement {
    let start = position
    let tag = try readTag()
    let length = try readLength()
    guard length <= end - position else { throw .truncated }
    let content = position..<position + length
    position = content.upperBound
    return DERElement(tag: tag, whole: start..<position, content: content)
  }

  @_lifetime(self: copy self)
  package mutating func next(_ tag: DERTag) throws(DERError) -> DERElement {
    let element = try next()
    guard element.tag == tag else { throw .unexpectedTag }
    return element
  }

  /// The next element if it has this tag; otherwise nothing is consumed.
  @_lifetime(self: copy self)
  package mutating func nextIfPresent(_ tag: DERTag) throws(DERError) -> DERElement? {
    if isAtEnd { return nil }
    let start = position
    let element = try next()
    if element.tag == tag { return element }
    position = start
    return nil
  }

  package func expectEnd() throws(DERError) {
    guard isAtEnd else { throw .trailingBytes }
  }

  @_lifetime(self: copy self)
  private mutating func readByte() throws(DERError) -> UInt8 {
    guard position < end else { throw .truncated }
    defer { position += 1 }
    return bytes[position]
  }

  @_lifetime(self: copy self)
  private mutating func readTag() throws(DERError) -> DERTag {
    let first = try readByte()
    var number = UInt32(first & 0x1F)
    if number == 0x1F {
      // X.690 §8.1.2.4: base 128, no leading zeros, and only for numbers that the short form cannot hold.
      number = 0
      var byte: UInt8
      repeat {
        byte = try readByte()
        guard number != 0 || byte != 0x80 else { throw .nonMinimalTag }
        guard number < 1 << 21 else { throw .tagTooLarge }
        number = number << 7 | UInt32(byte & 0x7F)
      } while byte & 0x80 != 0
      guard number >= 0x1F else { throw .nonMinimalTag }
    }
    return DERTag(tagClass: first >> 6, isConstructed: first & 0x20 != 0, number: number)
  }

  @_lifetime(self: copy self)
  private mutating func readLength() throws(DERError) -> Int {
    let first = try readByte()
    if first < 0x80 { return Int(first) }
    if first == 0x80 { throw .indefiniteLength }
    let count = Int(first & 0x7F)
    // Nothing here is longer than 65,535 bytes; longer lengths are refused before they are computed.
    guard count <= 2 else { throw .lengthTooLarge }
    var length = 0
    for _ in 0..<count { length = length << 8 | Int(try readByte()) }
    guard length >= (count == 1 ? 0x80 : 0x100) else { throw .nonMinimalLength }
    return length
  }
}
