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
    /// Nothing: whoever reads a value checks it, and what nobody reads may hold anything.
    case heads

    /// A certificate has fewer than 100 elements. Of a device's description, most may be names of packages.
    fileprivate var maximumElements: Int {
      switch self {
      case .all: 512
      case .devices, .heads: 4096
      }
    }

    /// A certificate nests 6 deep. Nobody has said how deep devices may.
    fileprivate var maximumDepth: Int { self == .all ? 12 : .max }
  }

  /// Throws unless `bytes` are exactly one element, and all within it is DER.
  package static func check(_ bytes: Span<UInt8>, _ strictness: Strictness = .all) throws(DERError) {
    try check(bytes, in: 0..<bytes.count, strictness)
  }

  /// Without recursion: what nests as deep as it is long takes no more of the stack.
  package static func check(
    _ bytes: Span<UInt8>, in range: Range<Int>, _ strictness: Strictness = .all
  ) throws(DERError) {
    var whole = DERReader(bytes, in: range)
    let outermost = try whole.next()
    try checkValue(outermost, bytes, strictness)
    var open = outermost.tag.isConstructed ? [Container(outermost)] : []
    var elementsLeft = strictness.maximumElements - 1
    while var container = open.popLast() {
      guard !container.rest.isEmpty else { continue }
      guard open.count + 2 <= strictness.maximumDepth else { throw .tooDeep }
      guard elementsLeft > 0 else { throw .tooManyElements }
      elementsLeft -= 1
      var reader = DERReader(bytes, in: container.rest)
      let element = try reader.next()
      try checkValue(element, bytes, strictness)
      if strictness == .all, container.isSet, let previous = container.previous,
        !precedes(bytes.extracting(previous), bytes.extracting(element.whole))
      {
        throw .unorderedSet
      }
      container.rest = element.whole.upperBound..<container.rest.upperBound
      container.previous = element.whole
      open.append(container)
      if element.tag.isConstructed { open.append(Container(element)) }
    }
    try whole.expectEnd()
  }

  /// An element that has others within, as far as they have not been seen.
  private struct Container {
    let isSet: Bool
    var rest: Range<Int>
    var previous: Range<Int>?

    init(_ element: DERElement) {
      isSet = element.tag == .set
      rest = element.content
    }
  }

  private static func checkValue(
    _ element: DERElement, _ bytes: Span<UInt8>, _ strictness: Strictness
  ) throws(DERError) {
    guard element.tag.tagClass == 0, strictness != .heads else { return }
    try checkUniversal(element, bytes, strictness)
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
}
