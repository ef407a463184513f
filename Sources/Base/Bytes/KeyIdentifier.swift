/// App Attest's name for a key: SHA-256 of its public point, 32 bytes, written in base64 (`keyId`).
package struct KeyIdentifier: Hashable, Sendable, CustomStringConvertible {
  package let digest: Bytes32

  package init(_ digest: Bytes32) {
    self.digest = digest
  }

  /// From base64 of exactly 32 bytes, else nil.
  package init?(base64 text: Span<UInt8>) {
    guard let bytes = Base64.decode(text), let digest = Bytes32(bytes) else { return nil }
    self.digest = digest
  }

  package init?(base64 text: String) {
    self.init(base64: Array(text.utf8).span)
  }

  /// Base64 with the alphabet of RFC 4648 §4: 44 characters.
  package var base64: String { digest.base64 }
  /// The first 8 characters: enough for a log line to be found by.
  package var short: String { Base64.encode(digest.inlineArray.span.extracting(..<6)) }
  package var description: String { base64 }
}

/// A point on P-256 as X9.63 writes it, without its leading 0x04: x and y, 64 bytes. Not checked to lie on the curve.
package struct P256Point: Hashable, Sendable {
  package let x: Bytes32
  package let y: Bytes32

  package init(x: Bytes32, y: Bytes32) {
    self.x = x
    self.y = y
  }

  /// From the 65 bytes of an uncompressed point, else nil.
  package init?(x963 bytes: Span<UInt8>) {
    guard bytes.count == 65, bytes[0] == 0x04, let x = Bytes32(bytes.extracting(1..<33)),
      let y = Bytes32(bytes.extracting(33..<65))
    else { return nil }
    self.init(x: x, y: y)
  }

  /// From the 91 bytes of a `SubjectPublicKeyInfo` with the named curve and an uncompressed point, else nil.
  package init?(subjectPublicKeyInfo bytes: Span<UInt8>) {
    let head = Self.subjectPublicKeyInfoHead
    guard bytes.startsWith(head) else { return nil }
    self.init(x963: bytes.extracting(head.count..<bytes.count))
  }

  /// 65 bytes: 0x04, x, y.
  package var x963: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(65)
    bytes.append(0x04)
    x.append(to: &bytes)
    y.append(to: &bytes)
    return bytes
  }

  /// 91 bytes, in DER.
  package var subjectPublicKeyInfo: [UInt8] { Self.subjectPublicKeyInfoHead + x963 }

  /// `SubjectPublicKeyInfo` in PEM (RFC 7468), ended by a line feed, as the key file stores it.
  package var pem: String {
    let body = Base64.encode(subjectPublicKeyInfo.span)
    var lines = "-----BEGIN PUBLIC KEY-----\n"
    var rest = body[...]
    while !rest.isEmpty {
      lines += rest.prefix(64)
      lines += "\n"
      rest = rest.dropFirst(64)
    }
    return lines + "-----END PUBLIC KEY-----\n"
  }

  /// From PEM of an uncompressed P-256 `SubjectPublicKeyInfo`; line ends and the last one are free, nothing else is.
  package init?(pem: Span<UInt8>) {
    var body: [UInt8] = []
    body.reserveCapacity(124)
    var line: [UInt8] = []
    var lines = 0
    var ended = false
    for index in 0...pem.count {
      let byte = index < pem.count ? pem[index] : UInt8(ascii: "\n")
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.isEmpty { continue }
      if ended { return nil }
      if lines == 0 {
        guard line == Array("-----BEGIN PUBLIC KEY-----".utf8) else { return nil }
      } else if line == Array("-----END PUBLIC KEY-----".utf8) {
        ended = true
      } else {
        body += line
      }
      lines += 1
      line.removeAll(keepingCapacity: true)
    }
    // PEM has the alphabet of RFC 4648 §4 alone.
    guard ended, !body.contains(UInt8(ascii: "-")), !body.contains(UInt8(ascii: "_")),
      let der = Base64.decode(body.span)
    else { return nil }
    self.init(subjectPublicKeyInfo: der.span)
  }

  /// SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING } up to the point (RFC 5480 §2).
  package static let subjectPublicKeyInfoHead: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
    0x48,
    0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]
}
