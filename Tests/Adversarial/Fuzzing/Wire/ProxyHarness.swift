/// PROXY headers, `X-Forwarded-For` and blocks of addresses: read the same however they come, and written as
/// they were read.
@testable internal import Addresses
internal import Bytes
internal import Identity
@testable internal import ProxyProtocol

enum ProxyHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let isHeader = try checkHeader(bytes)
    let isList = try checkForwardedFor(bytes)
    let isBlock = try checkBlock(bytes)
    return isHeader || isList || isBlock ? .accepted : .refused
  }

  // MARK: PROXY

  private static func checkHeader(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    let whole = ProxyHeaderParser.parse(bytes.span)
    // What was said of the beginning holds for the rest of the stream.
    var settled: ProxyHeaderParser.Outcome?
    for count in 0...min(bytes.count, 4200) where count < 128 || count % 64 == 0 {
      let outcome = ProxyHeaderParser.parse(bytes.span.extracting(0..<count))
      if let settled {
        try require(outcome == settled, "\(settled) became \(outcome) at \(count)")
      } else if outcome != .needMore {
        settled = outcome
      }
    }
    if let settled { try require(whole == settled, "\(settled) became \(whole)") }

    guard case .header(let header, let consumed) = whole else { return false }
    try require(consumed <= ProxyHeader.byteLimit && consumed <= bytes.count, "\(consumed) bytes consumed")
    try checkWriting(header, header.encodedLine)
    try checkWriting(
      header,
      header.encodedBinary(
        keyID: KeyIdentifier(Bytes32()), device: DevicePseudonym("AAAAAAAAAAAAAAAAAAAAAA")))
    return true
  }

  private static func checkWriting(_ header: ProxyHeader, _ bytes: [UInt8]) throws(BrokenProperty) {
    guard case .header(let again, let consumed) = ProxyHeaderParser.parse(bytes.span) else {
      throw BrokenProperty("\(header) cannot be read back")
    }
    try require(again == header && consumed == bytes.count, "\(header) became \(again)")
  }

  // MARK: Addresses

  /// Trusted are the addresses whose lowest bit is set.
  private static func checkForwardedFor(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let client = try? ForwardedFor.client(in: bytes.span, isTrusted: { $0.low & 1 == 1 }) else {
      return false
    }
    let hops = bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    let addresses = hops.compactMap {
      try? ForwardedFor.client(in: Array($0).span, isTrusted: { _ in false })
    }
    try require(addresses.count == hops.count, "a list with a hop that is none")
    let expected = addresses.last { $0.address.low & 1 == 0 } ?? addresses[0]
    try require(client == expected, "\(client) instead of \(expected)")
    try require(IPAddress(client.address.description) == client.address, "\(client.address) reads otherwise")
    try require(Endpoint(client.description) == client, "\(client) reads otherwise")
    return true
  }

  private static func checkBlock(_ bytes: [UInt8]) throws(BrokenProperty) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    let reading = Result { () throws(CIDRBlock.ParseError) in try CIDRBlock(parsing: text) }
    switch reading {
    case .success(let block), .failure(.hostBitsSet(let block)): try requireSame(block)
    case .failure: break
    }
    return (try? reading.get()) != nil
  }

  private static func requireSame(_ block: CIDRBlock) throws(BrokenProperty) {
    let again = try? CIDRBlock(parsing: block.description)
    try require(again == block, "\(block) reads otherwise")
    try require(block.contains(block.network), "\(block) without its own network")
  }
}
