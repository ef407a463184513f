/// The audit's chain: each row is tied to all before it, so that none can be changed, left out or moved unseen, and yet a
/// row's text can be taken out without a break.
package import Bytes
internal import Crypto
package import DeviceWire
internal import Time

package struct AuditRow: Equatable, Sendable {
  package enum Content: Equatable, Sendable {
    case text([UInt8], salt: [UInt8])
    /// Taken out; what is left is the hash of salt and text, which tells nothing without the salt.
    case erased(Bytes32)
  }

  /// The first row's is 1.
  package let sequence: Int64
  package let at: UnixSeconds
  package let content: Content
  package let hash: Bytes32

  package init(sequence: Int64, at: UnixSeconds, content: Content, hash: Bytes32) {
    self.sequence = sequence
    self.at = at
    self.content = content
    self.hash = hash
  }

  /// SHA-256(salt ‖ text).
  package var digest: Bytes32 {
    switch content {
    case .text(let text, let salt): SHA256.hash(salt.span, text.span)
    case .erased(let digest): digest
    }
  }
}

/// Where the chain stands after a row.
package struct AuditEnd: Equatable, Sendable {
  package let sequence: Int64
  package let hash: Bytes32

  /// Before the first row: 32 zero bytes.
  package static let beginning = AuditEnd(sequence: 0, hash: Bytes32())

  package init(sequence: Int64, hash: Bytes32) {
    self.sequence = sequence
    self.hash = hash
  }

  /// SHA-256(previous ‖ digest), which is the hash of the row that follows.
  package func following(_ digest: Bytes32) -> AuditEnd {
    AuditEnd(sequence: sequence + 1, hash: SHA256.hash(hash.array.span, digest))
  }
}

/// The row that follows an end.
struct AuditWriter {
  static let saltBytes = 16

  static func row(
    after end: AuditEnd, _ entry: AuditEntry, by origin: Origin, at now: UnixTime, _ entropy: some Entropy
  ) -> AuditRow {
    let at = UnixSeconds(now)
    let salt = entropy.bytes(saltBytes)
    let text = entry.text(at: at, by: origin)
    let next = end.following(SHA256.hash(salt.span, text.span))
    return AuditRow(sequence: next.sequence, at: at, content: .text(text, salt: salt), hash: next.hash)
  }
}

extension AuditKey {
  init(_ kind: String, _ name: [UInt8]) {
    let hash = SHA256.hash(Array("portcullis audit \(kind)\u{0}".utf8).span, name.span)
    bytes = Array(hash.array.prefix(8))
  }
}
