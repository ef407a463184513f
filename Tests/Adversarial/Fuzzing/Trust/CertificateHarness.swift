/// DER (X.690) and certificates in it: what the walk lets through has one encoding, which is the one that
/// came, and OpenSSL survives it.
@testable internal import AppAttest
internal import Bytes
internal import Crypto
internal import PortcullisClient
@testable internal import X509

enum CertificateHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let isDER: Bool
    do throws(DERError) {
      try DERWalk.check(bytes.span)
      isDER = true
    } catch {
      isDER = false
    }
    let parsed = try? CertificateParser.parse(bytes.span)
    // The app's package finds the key that it pins by a walk of its own, also in what is none.
    let pinned = CertificateKey.subjectPublicKeyInfo(of: bytes)
    if let parsed {
      try require(
        pinned == Array(bytes[parsed.subjectPublicKeyInfo]), "another key for the app than for the gate")
    }
    guard isDER else {
      try require(parsed == nil, "a certificate that is no DER")
      return .refused
    }
    var elements = 0
    try require(
      try encode(bytes, 0..<bytes.count, &elements) == bytes, "another encoding than the one that came")
    try require(elements <= 512, "\(elements) elements")
    let cut = Array(bytes.dropLast())
    try require((try? DERWalk.check(cut.span)) == nil, "accepted when cut")
    guard let parsed else { return .refused }

    try require(parsed.der == bytes, "other bytes are kept")
    try require(
      Set(parsed.extensions.map(\.identifier)).count == parsed.extensions.count, "an extension twice")
    // OpenSSL may refuse what we let through, and then so do we.
    _ = try? Certificate(der: bytes.span)
    _ = try? AttestationRoot(der: bytes.span)
    return .accepted
  }

  /// All elements within `range`, with the shortest heads.
  private static func encode(
    _ bytes: [UInt8], _ range: Range<Int>, _ elements: inout Int
  ) throws(BrokenProperty) -> [UInt8] {
    var encoded: [UInt8] = []
    var position = range.lowerBound
    while position < range.upperBound {
      guard let element = element(bytes, position..<range.upperBound) else {
        throw BrokenProperty("accepted, but not DER all through")
      }
      elements += 1
      let content =
        element.tag.isConstructed
        ? try encode(bytes, element.content, &elements) : Array(bytes[element.content])
      encoded += head(element.tag, content.count) + content
      position = element.whole.upperBound
    }
    return encoded
  }

  private static func element(_ bytes: [UInt8], _ range: Range<Int>) -> DERElement? {
    var reader = DERReader(bytes.span, in: range)
    return try? reader.next()
  }

  private static func head(_ tag: DERTag, _ length: Int) -> [UInt8] {
    let first = tag.tagClass << 6 | (tag.isConstructed ? 0x20 : 0)
    var head: [UInt8] = []
    if tag.number < 0x1F {
      head.append(first | UInt8(tag.number))
    } else {
      var digits = [UInt8(tag.number & 0x7F)]
      var rest = tag.number >> 7
      while rest > 0 {
        digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
        rest >>= 7
      }
      head += [first | 0x1F] + digits
    }
    switch length {
    case ..<0x80: head.append(UInt8(length))
    case ..<0x100: head += [0x81, UInt8(length)]
    default: head += [0x82, UInt8(length >> 8), UInt8(length & 0xFF)]
    }
    return head
  }
}
