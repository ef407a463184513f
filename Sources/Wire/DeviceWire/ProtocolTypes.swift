/// What phone and gate have in common is in `PortcullisProtocol`, and everybody who uses this module has it with it. Here it
/// meets the gate's own types: bytes in place, OpenSSL's hashes, its clock and its randomness.
package import Bytes
internal import Crypto
@_exported public import PortcullisProtocol
package import Time

extension Octets32 {
  package init(_ bytes: Bytes32) {
    guard let octets = Self(bytes.array) else { fatalError("Bytes32 holds other than 32 bytes") }
    self = octets
  }
}

extension Bytes32 {
  package init(_ octets: Octets32) {
    guard let bytes = Self(octets.bytes) else { fatalError("Octets32 holds other than 32 bytes") }
    self = bytes
  }
}

extension Identifier {
  /// Nil unless there are exactly 16 bytes.
  package init?(_ bytes: Span<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    for index in 0..<8 {
      words.0 = words.0 << 8 | UInt64(bytes[index])
      words.1 = words.1 << 8 | UInt64(bytes[index + 8])
    }
    self.init(high: words.0, low: words.1)
  }

  /// A new one, of version 4 (RFC 9562 §5.4): 122 random bits.
  package init(random entropy: some Entropy) {
    var words: (UInt64, UInt64) = (0, 0)
    let bytes = entropy.bytes(16)
    for index in 0..<8 {
      words.0 = words.0 << 8 | UInt64(bytes[index])
      words.1 = words.1 << 8 | UInt64(bytes[index + 8])
    }
    self.init(high: words.0 & ~0xF000 | 0x4000, low: words.1 & ~(0b11 << 62) | 0b10 << 62)
  }
}

extension UnixSeconds {
  /// The second that has begun; the first one for times before 1970.
  package init(_ time: UnixTime) {
    self.init(clamping: time.seconds)
  }
}

extension PairingSecret {
  package init(random entropy: some Entropy) {
    guard let secret = Self(entropy.bytes(16)) else { fatalError("entropy gave other than 16 bytes") }
    self = secret
  }

  /// HMAC-SHA-256 over a `pair` message: whoever sends it has seen the code.
  package func mac(of message: DeviceMessage) -> Bytes32 {
    HMACSHA256(key: bytes.span).authenticate(message.bytes.span)
  }

  /// In time that does not depend on where they differ.
  package func isValid(_ mac: Bytes32, for message: DeviceMessage) -> Bool {
    self.mac(of: message).equalsInConstantTime(mac)
  }
}

extension PairingDigits {
  /// In time that does not depend on where they differ.
  package func isEqual(to other: Self) -> Bool {
    equalInConstantTime(Array(text.utf8).span, Array(other.text.utf8).span)
  }
}

extension PairingURI {
  /// Nil for a host that cannot stand in the code.
  /// - Parameter host: in any case.
  package init?(
    pairingID: PairingID, secret: PairingSecret, serverKeyHash: Bytes32, host: String, port: UInt16
  ) {
    self.init(pairingID: pairingID, secret: secret, pin: Octets32(serverKeyHash), host: host, port: port)
  }

  /// SHA-256 of the SubjectPublicKeyInfo in the server's certificate.
  package var serverKeyHash: Bytes32 { Bytes32(pin) }
}

extension Summary {
  /// SHA-256 of the bytes: what an `approval` message names.
  package var hash: Bytes32 { SHA256.hash(bytes.span) }

  /// From any spelling of it; `bytes` are the canonical form.
  package init(parsing bytes: Span<UInt8>) throws(CanonicalJSONError) {
    try self.init(parsing: bytes.copied(upTo: CanonicalObject.sizeLimit))
  }

  /// From the canonical form alone.
  package init(canonical bytes: Span<UInt8>) throws(CanonicalJSONError) {
    try self.init(canonical: bytes.copied(upTo: CanonicalObject.sizeLimit))
  }
}

extension CanonicalObject {
  /// Any spelling of an object of the subset.
  package init(parsing bytes: Span<UInt8>) throws(CanonicalJSONError) {
    try self.init(parsing: bytes.copied(upTo: Self.sizeLimit))
  }

  /// The canonical form alone.
  package init(canonical bytes: Span<UInt8>) throws(CanonicalJSONError) {
    try self.init(canonical: bytes.copied(upTo: Self.sizeLimit))
  }
}

extension Span<UInt8> {
  /// Nobody reads more than that, and so no more is copied.
  fileprivate func copied(upTo limit: Int) throws(CanonicalJSONError) -> [UInt8] {
    guard count <= limit else { throw .size }
    var copy: [UInt8] = []
    copy.append(copying: self)
    return copy
  }
}
