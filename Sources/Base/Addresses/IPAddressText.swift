/// Addresses as text: strict reading (RFC 4291 §2.2, dotted decimal of RFC 3986 §3.2.2) and RFC 5952's one
/// way to write.
extension IPAddress {
  package init?(_ text: String) {
    self.init(parsing: Array(text.utf8).span)
  }

  /// From the whole of `text`, else nil: four decimal numbers without leading zeros, or IPv6 without brackets
  /// or zone.
  package init?(parsing text: Span<UInt8>) {
    for index in text.indices where text[index] == UInt8(ascii: ":") {
      self.init(parsingV6: text)
      return
    }
    guard let bits = Self.dottedDecimal(text) else { return nil }
    self.init(v4: bits)
  }

  private static func dottedDecimal(_ text: Span<UInt8>) -> UInt32? {
    var bits: UInt32 = 0
    var parts = 0
    var start = 0
    for index in 0...text.count where index == text.count || text[index] == UInt8(ascii: ".") {
      guard parts < 4, let part = octet(text.extracting(start..<index)) else { return nil }
      bits = bits << 8 | part
      parts += 1
      start = index + 1
    }
    return parts == 4 ? bits : nil
  }

  private static func octet(_ text: Span<UInt8>) -> UInt32? {
    guard (1...3).contains(text.count), text.count == 1 || text[0] != UInt8(ascii: "0") else { return nil }
    var value: UInt32 = 0
    for index in text.indices {
      guard let digit = decimalDigit(text[index]) else { return nil }
      value = value * 10 + UInt32(digit)
    }
    return value <= 255 ? value : nil
  }

  private init?(parsingV6 text: Span<UInt8>) {
    guard text.count <= 45 else { return nil }
    var groups: [UInt16] = []
    /// How many groups stand before `::`.
    var gap: Int?
    var index = 0
    if text.count >= 2, text[0] == UInt8(ascii: ":") {
      guard text[1] == UInt8(ascii: ":") else { return nil }
      gap = 0
      index = 2
    }
    while index < text.count {
      var end = index
      while end < text.count, text[end] != UInt8(ascii: ":") { end += 1 }
      if let group = Self.hexGroup(text.extracting(index..<end)) {
        groups.append(group)
      } else if end == text.count, let bits = Self.dottedDecimal(text.extracting(index..<end)) {
        groups.append(UInt16(truncatingIfNeeded: bits >> 16))
        groups.append(UInt16(truncatingIfNeeded: bits))
      } else {
        return nil
      }
      guard end < text.count else { break }
      index = end + 1
      // A single colon is followed by a group, a double one stands once for the groups left out.
      guard index < text.count else { return nil }
      if text[index] == UInt8(ascii: ":") {
        guard gap == nil else { return nil }
        gap = groups.count
        index += 1
      }
    }
    if let gap {
      // `::` stands for at least one group (RFC 4291 §2.2), so eight groups beside it are one too many.
      guard groups.count < 8 else { return nil }
      groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
    }
    guard groups.count == 8 else { return nil }
    func word(_ range: Range<Int>) -> UInt64 { groups[range].reduce(0) { $0 << 16 | UInt64($1) } }
    self.init(v6: word(0..<4), word(4..<8))
  }

  private static func hexGroup(_ text: Span<UInt8>) -> UInt16? {
    guard (1...4).contains(text.count) else { return nil }
    var value: UInt16 = 0
    for index in text.indices {
      let byte = text[index]
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      value = value << 4 | UInt16(digit)
    }
    return value
  }
}

extension IPAddress: CustomStringConvertible {
  /// RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as `::`, and
  /// the dotted form for mapped addresses (§5).
  package var description: String {
    if family == .v4 { return dotted }
    if isMapped { return "::ffff:\(dotted)" }
    let groups = (0..<8).map { index in
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> (48 - UInt64(index % 4) * 16))
    }
    var longest = 0..<0
    var start = 0
    for index in 0...8 where index == 8 || groups[index] != 0 {
      if index - start > longest.count { longest = start..<index }
      start = index + 1
    }
    func joined(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    if longest.count < 2 { return joined(0..<8) }
    return "\(joined(0..<longest.lowerBound))::\(joined(longest.upperBound..<8))"
  }

  private var dotted: String {
    var text: [UInt8] = []
    text.reserveCapacity(15)
    for shift in [24, 16, 8, 0] as [UInt64] {
      let octet = UInt8(truncatingIfNeeded: low >> shift)
      if octet >= 100 { text.append(UInt8(ascii: "0") + octet / 100) }
      if octet >= 10 { text.append(UInt8(ascii: "0") + octet / 10 % 10) }
      text.append(UInt8(ascii: "0") + octet % 10)
      if shift > 0 { text.append(UInt8(ascii: ".")) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The value of an ASCII decimal digit.
func decimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  default: nil
  }
}
