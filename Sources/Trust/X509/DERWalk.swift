/// A walk over a whole DER encoding that checks every element by the rules of its universal type (X.690 §8,
/// §10, §11).
///
/// OpenSSL reads BER where X.509 wants DER, and re-encoding proves nothing because it replays the bytes it
/// read.
package enum DERWalk {
  /// What is asked of values, beside heads that are the shortest.
  package enum Strictness: Sendable {
    /// All that X.690 asks of the types that certificates have, and no other type.
    case all
    /// The values of the types that are read. What devices of many makers write has texts in every alphabet, types that
    /// nobody reads, and sets in no order.
    case devices

    /// A certificate has fewer than 100 elements. Of a device's description, most may be names of packages.
    fileprivate var maximumElements: Int {
      switch self {
      case .all: 512
      case .devices: 4096
      }
    }
  }

  /// Throws unless `bytes` are exactly one element, and all within it is DER.
  package static func check(_ bytes: Span<UInt8>, _ strictness: Strictness = .all) throws(DERError) {
    try check(bytes, in: 0..<bytes.count, strictness)
  }

  package static func check(
    _ bytes: Span<UInt8>, in range: Range<Int>, _ strictness: Strictness = .all
  ) throws(DERError) {
    var state = State(strictness)
    var reader = DERReader(bytes, in: range)
    try visit(try reader.next(), bytes, depth: 1, &state)
    try reader.expectEnd()
  }

  private struct State {
    let strictness: Strictness
    var elementsLeft: Int

    init(_ strictness: Strictness) {
      self.strictness = strictness
      elementsLeft = strictness.maximumElements
    }
  }

  private static func visit(
    _ element: DERElement, _ bytes: Span<UInt8>, depth: Int, _ state: inout State
  ) throws(DERError) {
    guard depth <= maximumDepth else { throw .tooDeep }
    guard state.elementsLeft > 0 else { throw .tooManyElements }
    state.elementsLeft -= 1
    if element.tag.tagClass == 0 { try checkUniversal(element, bytes, state.strictness) }
    guard element.tag.isConstructed else { return }

    var reader = DERReader(bytes, in: element.content)
    var previous: Range<Int>?
    while !reader.isAtEnd {
      let child = try reader.next()
      try visit(child, bytes, depth: depth + 1, &state)
      if state.strictness == .all, element.tag == .set {
        if let previous, !precedes(bytes.extracting(previous), bytes.extracting(child.whole)) {
          throw .unorderedSet
        }
        previous = child.whole
      }
    }
  }

  private static func checkUniversal(
    _ element: DERElement, _ bytes: Span<UInt8>, _ strictness: Strictness
  ) throws(DERError) {
    let content = bytes.extracting(element.content)
    let isContainer = element.tag.number == 16 || element.tag.number == 17
    guard element.tag.isConstructed == isContainer else { throw .wrongForm }
    switch element.tag.number {
    case 1: _ = try DERValue.boolean(content)
    case 2: try DERValue.checkInteger(content)
    case 3: try DERValue.checkBitString(content)
    case 4, 16, 17: break
    case 5: guard content.isEmpty else { throw .null }
    case 6: try DERValue.checkObjectIdentifier(content)
    case 10: try DERValue.checkInteger(content)
    case 1... where strictness == .devices: break
    case 12: try DERValue.checkUTF8String(content)
    case 18: try DERValue.checkCharacters(content, DERValue.isNumeric)
    case 19: try DERValue.checkCharacters(content, DERValue.isPrintable)
    case 22: try DERValue.checkCharacters(content) { $0 < 0x80 }
    case 23: _ = try DERValue.utcTime(content)
    case 24: _ = try DERValue.generalizedTime(content)
    default: throw .unexpectedTag
    }
  }

  /// X.690 §11.6: ascending, the shorter one padded with zeros; equal elements have no place in a name
  /// either.
  private static func precedes(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    for index in 0..<max(left.count, right.count) {
      let leftByte = index < left.count ? left[index] : 0
      let rightByte = index < right.count ? right[index] : 0
      if leftByte != rightByte { return leftByte < rightByte }
    }
    return false
  }

  /// A certificate nests 6 deep.
  private static let maximumDepth = 12
}
