/// Strict CBOR (RFC 8949 §4.2.1): what is accepted has one encoding, which is the one that came.
internal import Bytes
@testable internal import CBOR

enum CBORHarness {
  static let limits = CBORLimits(bytes: 16_384)

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let document: CBORDocument
    do throws(CBORError) {
      document = try CBORDocument.parse(bytes.span, limits: limits)
    } catch {
      return .refused
    }
    var encoder = CBOREncoder()
    var items = 0
    try write(document.root, of: document, bytes, depth: 0, &items, to: &encoder)
    try require(encoder.bytes == bytes, "another encoding than the one that came")
    try require(items <= limits.items, "\(items) items")

    // No item is the beginning of another, and nothing may follow.
    for count in Set([0, 1, bytes.count / 2, bytes.count - 1]) where count < bytes.count {
      try require(error(bytes[..<count]) != nil, "accepted when cut at \(count)")
    }
    if bytes.count < limits.bytes {
      try require(error(bytes + [0]) == .trailingBytes, "accepted with something behind it")
    }
    return .accepted
  }

  static func error(_ bytes: some Collection<UInt8>) -> CBORError? {
    let bytes = Array(bytes)
    do throws(CBORError) {
      _ = try CBORDocument.parse(bytes.span, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  private static func write(
    _ item: CBORDocument.Item, of document: CBORDocument, _ bytes: [UInt8], depth: Int, _ items: inout Int,
    to encoder: inout CBOREncoder
  ) throws(BrokenProperty) {
    items += 1
    switch item.kind {
    case .unsigned(let value): encoder.append(unsigned: value)
    case .negative(let argument): encoder.append(negative: argument)
    case .bytes(let range): encoder.append(bytes: bytes[range])
    case .text(let range):
      guard let text = String(validating: bytes[range], as: UTF8.self) else {
        throw BrokenProperty("text that is not UTF-8")
      }
      encoder.append(text: text)
    case .array(let count):
      try require(depth < limits.depth, "deeper than the limit")
      encoder.beginArray(count: count)
      let elements = document.elements(of: item)
      try require(elements.count == count, "\(elements.count) elements of \(count)")
      for element in elements {
        try write(element, of: document, bytes, depth: depth + 1, &items, to: &encoder)
      }
    case .map(let count):
      try require(depth < limits.depth, "deeper than the limit")
      encoder.beginMap(pairs: count)
      let pairs = document.pairs(of: item)
      try require(pairs.count == count, "\(pairs.count) pairs of \(count)")
      try require(Set(pairs.map { Array(bytes[$0.key]) }).count == count, "a key twice")
      for (key, value) in pairs {
        items += 1
        encoder.append(text: String(decoding: bytes[key], as: UTF8.self))
        try write(value, of: document, bytes, depth: depth + 1, &items, to: &encoder)
      }
    }
  }
}
