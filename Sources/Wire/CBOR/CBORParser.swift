/// Strict reading of CBOR (RFC 8949) over libcbor's streaming decoder, which allocates nothing.
///
/// Every count is held against what is left of the limits before anything is kept, so an object costs at most
/// 64 small records whatever its heads claim. libcbor reports values but not how they were written; whether a
/// head was the shortest is checked here.
internal import Bytes
internal import CCBOR

extension CBORDocument {
  /// Exactly one data item, or the first rule that `bytes` breaks, in the order of the bytes.
  package static func parse(_ bytes: Span<UInt8>, limits: CBORLimits) throws(CBORError) -> CBORDocument {
    guard bytes.count <= limits.bytes else { throw .tooManyBytes }
    var parser = CBORParser(limits: limits)
    try parser.parseItem(bytes, depth: 1)
    guard parser.position == bytes.count else { throw .trailingBytes }
    return CBORDocument(nodes: parser.nodes)
  }
}

private struct CBORParser {
  private let depthLimit: Int
  /// Items that may still begin, those announced by an open container not included.
  private var itemsLeft: Int
  var position = 0
  var nodes: [CBORDocument.Node] = []

  init(limits: CBORLimits) {
    depthLimit = limits.depth
    itemsLeft = limits.items - 1
  }

  /// Recursion ends at `depthLimit`.
  mutating func parseItem(_ bytes: Span<UInt8>, depth: Int) throws(CBORError) {
    let start = position
    let head = try Self.decode(bytes.extracting(start..<bytes.count))
    let end = start + head.length
    let node = nodes.count

    switch head.kind {
    case PORTCULLIS_CBOR_UNSIGNED:
      append(.unsigned(head.argument), endingAt: end)
    case PORTCULLIS_CBOR_NEGATIVE:
      append(.negative(head.argument), endingAt: end)
    case PORTCULLIS_CBOR_BYTES:
      append(.bytes(end - Int(head.argument)..<end), endingAt: end)
    case PORTCULLIS_CBOR_TEXT:
      let content = end - Int(head.argument)..<end
      var validator = UTF8Validator()
      guard validator.accept(bytes.extracting(content)), validator.isComplete else { throw .invalidUTF8 }
      append(.text(content), endingAt: end)
    case PORTCULLIS_CBOR_ARRAY:
      let count = try claim(head.argument, itemsEach: 1, depth: depth)
      append(.array(count: count), endingAt: end)
      for _ in 0..<count { try parseItem(bytes, depth: depth + 1) }
    case PORTCULLIS_CBOR_MAP:
      let count = try claim(head.argument, itemsEach: 2, depth: depth)
      append(.map(pairs: count), endingAt: end)
      for _ in 0..<count {
        try parseKey(bytes, ofMapAt: node, depth: depth + 1)
        try parseItem(bytes, depth: depth + 1)
      }
    case PORTCULLIS_CBOR_TAG: throw .tag
    case PORTCULLIS_CBOR_FLOAT: throw .float
    case PORTCULLIS_CBOR_SIMPLE: throw .simpleValue
    case PORTCULLIS_CBOR_INDEFINITE: throw .indefiniteLength
    default: throw .malformed
    }
    nodes[node].end = nodes.count
  }

  /// A text that no earlier pair of the map has; maps have few pairs, so they are simply compared.
  private mutating func parseKey(_ bytes: Span<UInt8>, ofMapAt map: Int, depth: Int) throws(CBORError) {
    let key = nodes.count
    try parseItem(bytes, depth: depth)
    guard case .text(let content) = nodes[key].kind else { throw .keyIsNotText }
    var earlier = map + 1
    while earlier < key {
      if case .text(let other) = nodes[earlier].kind,
        Self.areEqual(bytes.extracting(content), bytes.extracting(other))
      {
        throw .duplicateKey
      }
      earlier = nodes[nodes[earlier].end].end
    }
  }

  /// Takes the announced items out of the budget before the first of them is looked at.
  private mutating func claim(_ count: UInt64, itemsEach: Int, depth: Int) throws(CBORError) -> Int {
    guard depth <= depthLimit else { throw .tooDeep }
    guard count <= UInt64(itemsLeft / itemsEach) else { throw .tooManyItems }
    itemsLeft -= Int(count) * itemsEach
    return Int(count)
  }

  private mutating func append(_ kind: CBORDocument.Kind, endingAt end: Int) {
    nodes.append(CBORDocument.Node(kind: kind, end: nodes.count + 1))
    position = end
  }

  private static func decode(_ bytes: Span<UInt8>) throws(CBORError) -> portcullis_cbor_item {
    guard !bytes.isEmpty else { throw .truncated }
    var item = portcullis_cbor_item()
    // libcbor reads at most `count` bytes of the span's own buffer and keeps no pointer.
    let status = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe portcullis_cbor_decode(buffer.baseAddress, buffer.count, &item)
    }
    switch status {
    case 0: break
    case -2: throw .truncated
    default: throw .malformed
    }
    switch item.kind {
    case PORTCULLIS_CBOR_UNSIGNED, PORTCULLIS_CBOR_NEGATIVE, PORTCULLIS_CBOR_BYTES, PORTCULLIS_CBOR_TEXT,
      PORTCULLIS_CBOR_ARRAY, PORTCULLIS_CBOR_MAP:
      guard isShortest(initialByte: bytes[0], argument: item.argument) else { throw .notShortest }
    default: break
    }
    return item
  }

  /// RFC 8949 §4.2.1: the argument must not fit the next shorter form.
  private static func isShortest(initialByte: UInt8, argument: UInt64) -> Bool {
    switch initialByte & 0x1F {
    case 24: argument >= 24
    case 25: argument > UInt64(UInt8.max)
    case 26: argument > UInt64(UInt16.max)
    case 27: argument > UInt64(UInt32.max)
    default: true
    }
  }

  private static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }
}
