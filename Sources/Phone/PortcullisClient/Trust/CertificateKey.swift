/// The public key of a certificate, found by a walk over its DER (RFC 5280 §4.1), whatever kind of key it is.
package enum CertificateKey {
  /// The bytes of the SubjectPublicKeyInfo, with its tag and length: what a pin is the hash of. Nil for what is no
  /// certificate.
  package static func subjectPublicKeyInfo(of certificate: [UInt8]) -> [UInt8]? {
    var outer = DERWalk(certificate[...])
    guard let body = outer.take(DERWalk.sequence), outer.isAtEnd else { return nil }
    var inner = DERWalk(body.content)
    guard let signed = inner.take(DERWalk.sequence) else { return nil }
    var fields = DERWalk(signed.content)
    if fields.nextTag == DERWalk.version { _ = fields.take(DERWalk.version) }
    guard fields.take(DERWalk.integer) != nil else { return nil }
    // The signature's algorithm, the issuer, the validity, the subject.
    for _ in 0..<4 { guard fields.take(DERWalk.sequence) != nil else { return nil } }
    return fields.take(DERWalk.sequence).map { Array($0.whole) }
  }
}

/// Elements of DER, one after the other.
private struct DERWalk {
  static let integer: UInt8 = 0x02
  static let sequence: UInt8 = 0x30
  static let version: UInt8 = 0xA0

  struct Element {
    let whole: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  var isAtEnd: Bool { rest.isEmpty }
  var nextTag: UInt8? { rest.first }

  /// The next element, where it has this tag and is there as a whole.
  mutating func take(_ tag: UInt8) -> Element? {
    guard rest.count >= 2, rest.first == tag else { return nil }
    var place = rest.startIndex + 1
    var length = Int(rest[place])
    place += 1
    if length >= 0x80 {
      let count = length - 0x80
      // Four bytes are more than any certificate has; without any the length is not definite.
      guard (1...4).contains(count), rest.endIndex - place >= count else { return nil }
      length = rest[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
      place += count
    }
    guard length <= rest.endIndex - place else { return nil }
    let end = place + length
    defer { rest = rest[end...] }
    return Element(whole: rest[rest.startIndex..<end], content: rest[place..<end])
  }
}
