/// The name by which the game knows a device: made of its credential with a key that this gate alone has
/// (docs/game.md, "Banning a phone").
package import Bytes
package import Crypto

/// Sixteen bytes. Nobody without the key can tell which key id is behind one, or whether two gates mean the same device.
package struct DevicePseudonym: Hashable, Sendable, CustomStringConvertible {
  package static let byteCount = 16
  private let first: UInt64
  private let second: UInt64

  /// The first half of the digest, as RFC 2104 §5 lets one cut it.
  fileprivate init(beginning digest: Bytes32) {
    (first, second) = digest.leadingWords
  }

  /// From base64url, or from base64 with its padding; nil unless that is 16 bytes.
  package init?(_ text: String) {
    guard let bytes = Base64.decode(Array(text.utf8).span), bytes.count == Self.byteCount,
      let padded = Bytes32(bytes + [UInt8](repeating: 0, count: 32 - Self.byteCount))
    else { return nil }
    self.init(beginning: padded)
  }

  package var bytes: [UInt8] {
    [first, second].flatMap { word in (1...8).map { UInt8(truncatingIfNeeded: word >> UInt64(64 - $0 * 8)) } }
  }

  /// In base64url without padding: 22 characters.
  package var description: String { Base64.encodeURL(bytes.span) }
}

/// The key behind the pseudonyms of one gate; any number of threads may use it at once.
package struct PseudonymKey: Sendable {
  package static let byteCount = 32
  private let tagger: HMACSHA256
  private let derivation: HKDFSHA256

  /// Nil unless there are 32 bytes.
  package init?(_ key: PrivateKeyText) {
    guard key.count == Self.byteCount else { return nil }
    tagger = HMACSHA256(key: key)
    derivation = HKDFSHA256(key)
  }

  /// A key for something else that has to outlive the process; the caller's to wipe.
  /// - Parameters:
  ///   - count: of its bytes.
  ///   - name: what it is for, with a version.
  package func derive(_ count: Int, for name: String) -> [UInt8] {
    derivation.expand(count, for: Array(name.utf8))
  }

  /// Of an attested key.
  package func pseudonym(ofKey identifier: KeyIdentifier) -> DevicePseudonym {
    pseudonym("key", identifier.digest)
  }

  /// Of a client certificate, by SHA-256 of its `SubjectPublicKeyInfo`: one that is renewed with its key keeps its name.
  package func pseudonym(ofCertificateKey hash: Bytes32) -> DevicePseudonym {
    pseudonym("cert", hash)
  }

  /// Of a device that comes in by a key of its own, by the 16 bytes of its UUID: its keys may change.
  package func pseudonym(ofDevice identifier: [UInt8]) -> DevicePseudonym {
    pseudonym("device", identifier)
  }

  private func pseudonym(_ kind: StaticString, _ digest: Bytes32) -> DevicePseudonym {
    pseudonym(kind, digest.array)
  }

  /// The word keeps the kinds apart, should a key id ever be the hash of a certificate's key.
  private func pseudonym(_ kind: StaticString, _ name: [UInt8]) -> DevicePseudonym {
    let message = Array("\(kind)".utf8) + name
    return DevicePseudonym(beginning: tagger.authenticate(message.span))
  }
}
