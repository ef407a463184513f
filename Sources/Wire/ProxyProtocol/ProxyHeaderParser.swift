/// Reads the PROXY header at the start of a stream, version 1 or 2 (HAProxy's text, §2.1 and §2.2): as much
/// as is there is looked at, and nothing is taken before the header is whole.
///
/// It keeps no state: the caller shows it everything from the stream's first byte each time (a peek at the
/// socket), of which it reads `ProxyHeader.byteLimit` bytes at most.
internal import Addresses
internal import Bytes

package enum ProxyHeaderParser {
  package enum Outcome: Equatable, Sendable {
    /// So far this is the beginning of a good header.
    case needMore
    /// The header, and its length; what follows belongs to the stream.
    case header(ProxyHeader, consumed: Int)
    /// Known at the first byte that proves it for signatures, lengths and line ends; for the rest, once it is
    /// whole.
    case refused(ProxyHeaderViolation)
  }

  package static func parse(_ bytes: Span<UInt8>) -> Outcome {
    let parse = begins(bytes, with: ProxyHeader.binarySignature) ? parseBinary : parseLine
    do throws(ProxyHeaderViolation) {
      guard let (header, consumed) = try parse(bytes) else { return .needMore }
      return .header(header, consumed: consumed)
    } catch {
      return .refused(error)
    }
  }

  /// Whether `bytes` and `signature` are the same as far as both reach.
  private static func begins(_ bytes: Span<UInt8>, with signature: [UInt8]) -> Bool {
    for index in 0..<min(bytes.count, signature.count) where bytes[index] != signature[index] { return false }
    return true
  }

  // MARK: - Version 1

  private static func parseLine(_ bytes: Span<UInt8>) throws(ProxyHeaderViolation) -> (
    ProxyHeader, consumed: Int
  )? {
    guard begins(bytes, with: ProxyHeader.lineSignature) else { throw .signature }
    let reach = min(bytes.count, ProxyHeader.lineLimit)
    var end = ProxyHeader.lineSignature.count
    while end < reach, bytes[end] != carriageReturn {
      if bytes[end] == lineFeed { throw .lineEnd }
      end += 1
    }
    guard end + 1 < reach else {
      if reach == ProxyHeader.lineLimit { throw .lineTooLong }
      return nil
    }
    guard bytes[end + 1] == lineFeed else { throw .lineEnd }
    let header = try parseFields(bytes.extracting(ProxyHeader.lineSignature.count..<end))
    return (header, end + 2)
  }

  /// What stands between `PROXY ` and CR LF.
  private static func parseFields(_ line: Span<UInt8>) throws(ProxyHeaderViolation) -> ProxyHeader {
    var bounds: [Range<Int>] = []
    var start = 0
    for index in 0...line.count where index == line.count || line[index] == space {
      bounds.append(start..<index)
      start = index + 1
    }
    let family: IPAddress.Family
    switch text(line.extracting(bounds[0])) {
    // Whatever follows it means nothing (§2.1).
    case "UNKNOWN": return .socketAddresses
    case "TCP4": family = .v4
    case "TCP6": family = .v6
    default: throw .lineFamily
    }
    guard bounds.count == 5 else { throw .lineFields }
    func endpoint(_ address: Int, _ port: Int) throws(ProxyHeaderViolation) -> Endpoint {
      guard let found = IPAddress(parsing: line.extracting(bounds[address])), found.family == family else {
        throw .address
      }
      guard let number = decimalPort(line.extracting(bounds[port])) else { throw .port }
      return Endpoint(address: found.unmapped, port: number)
    }
    return .relayed(source: try endpoint(1, 3), destination: try endpoint(2, 4))
  }

  private static func text(_ word: Span<UInt8>) -> String {
    var text = ""
    for index in word.indices { text.unicodeScalars.append(Unicode.Scalar(word[index])) }
    return text
  }

  // MARK: - Version 2

  private static func parseBinary(_ bytes: Span<UInt8>) throws(ProxyHeaderViolation) -> (
    ProxyHeader, consumed: Int
  )? {
    // Each byte is judged as soon as it is there.
    if bytes.count > 12 {
      guard bytes[12] >> 4 == 2 else { throw .version }
      guard bytes[12] & 0x0F <= 1 else { throw .command }
    }
    guard bytes.count >= ProxyHeader.binaryPrefixBytes else { return nil }
    let end = ProxyHeader.binaryPrefixBytes + (Int(bytes[14]) << 8 | Int(bytes[15]))
    guard end <= ProxyHeader.byteLimit else { throw .tooLong }
    guard bytes.count >= end else { return nil }
    // LOCAL: the block is to be discarded, "including the family which is ignored" (§2.2).
    if bytes[12] & 0x0F == 0 { return (.socketAddresses, end) }
    return (try parseAddresses(bytes.extracting(0..<end), family: bytes[13]), end)
  }

  /// Addresses, and the type-length-values after them, of a whole header.
  private static func parseAddresses(
    _ header: Span<UInt8>, family: UInt8
  ) throws(ProxyHeaderViolation) -> ProxyHeader {
    let block = header.extracting(ProxyHeader.binaryPrefixBytes..<header.count)
    let addressBytes: Int
    switch family {
    // UNSPEC: how long its addresses are cannot be known, so nothing in the block has a meaning.
    case 0x00: return .socketAddresses
    case 0x11: addressBytes = 4
    case 0x21: addressBytes = 16
    // Two UNIX paths of 108 bytes: the client is on the proxy's own machine.
    case 0x31: addressBytes = 106
    // Datagrams do not come by a stream, and other values "must be rejected".
    default: throw .family
    }
    let addressesEnd = 2 * addressBytes + 4
    guard block.count >= addressesEnd else { throw .addressLength }
    try checkValues(of: header, from: ProxyHeader.binaryPrefixBytes + addressesEnd)
    guard
      let source = IPAddress(networkBytes: block.extracting(0..<addressBytes)),
      let destination = IPAddress(networkBytes: block.extracting(addressBytes..<2 * addressBytes))
    else { return .socketAddresses }
    func port(_ at: Int) -> UInt16 { UInt16(block[at]) << 8 | UInt16(block[at + 1]) }
    return .relayed(
      source: Endpoint(address: source.unmapped, port: port(2 * addressBytes)),
      destination: Endpoint(address: destination.unmapped, port: port(2 * addressBytes + 2)))
  }

  /// They have to fill the header exactly. The checksum is the only one with a meaning here.
  private static func checkValues(of header: Span<UInt8>, from start: Int) throws(ProxyHeaderViolation) {
    var position = start
    var checksums: [Range<Int>] = []
    while position < header.count {
      guard position + 3 <= header.count else { throw .values }
      let value = position + 3
      let end = value + (Int(header[position + 1]) << 8 | Int(header[position + 2]))
      guard end <= header.count else { throw .values }
      if header[position] == ProxyHeader.checksumType { checksums.append(value..<end) }
      position = end
    }
    if checksums.isEmpty { return }
    // A second one would be over bytes that the first one has as zeros, or the other way round.
    guard checksums.count == 1, checksums[0].count == 4, isChecksum(at: checksums[0], of: header) else {
      throw .checksum
    }
  }

  private static func isChecksum(at value: Range<Int>, of header: Span<UInt8>) -> Bool {
    var sum = CRC32C()
    sum.update(header.extracting(0..<value.lowerBound))
    sum.update([UInt8](repeating: 0, count: value.count).span)
    sum.update(header.extracting(value.upperBound..<header.count))
    return value.reduce(0) { number, index in number << 8 | UInt32(header[index]) } == sum.value
  }
}

/// A port in decimal, without leading zeros (§2.1); nil for anything else.
private func decimalPort(_ digits: Span<UInt8>) -> UInt16? {
  guard (1...5).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0") else {
    return nil
  }
  var number = 0
  for index in digits.indices {
    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digits[index]) else { return nil }
    number = number * 10 + Int(digits[index] - UInt8(ascii: "0"))
  }
  return UInt16(exactly: number)
}

private let carriageReturn = UInt8(ascii: "\r")
private let lineFeed = UInt8(ascii: "\n")
private let space = UInt8(ascii: " ")
