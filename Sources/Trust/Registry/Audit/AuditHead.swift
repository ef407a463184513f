/// The end of the audit's chain as the gate has vouched for it: whoever keeps one outside of the store finds out when rows
/// before it are changed or gone.
internal import Bytes
internal import Crypto
internal import DeviceTokens
package import DeviceWire
internal import JSON

package struct AuditHead: Equatable, Sendable {
  /// There is one gate at a store, and one chain.
  package static let gate = "main"

  package let end: AuditEnd
  package let at: UnixSeconds
  /// `kid` of the token key that signed.
  package let keyID: String
  /// DER, of the message `portcullis/audit-head/v1`.
  package let signature: [UInt8]

  package init(end: AuditEnd, at: UnixSeconds, keyID: String, signature: [UInt8]) {
    self.end = end
    self.at = at
    self.keyID = keyID
    self.signature = signature
  }

  /// From the line of the log, in either format, that tells of the event `audit_head`; nil for anything else.
  package init?(logLine: [UInt8]) {
    let fields: [String: String]
    if let object = (try? JSONValue(parsing: logLine.span, depthLimit: 4))?.object {
      fields = Dictionary(
        object.members.map { ($0.name, $0.value.string ?? $0.value.integer.map(String.init) ?? "") },
        uniquingKeysWith: { first, _ in first })
    } else {
      let words = String(decoding: logLine, as: UTF8.self).split(separator: " ").compactMap { word in
        word.firstIndex(of: "=").map { (String(word[..<$0]), String(word[$0...].dropFirst())) }
      }
      fields = Dictionary(words, uniquingKeysWith: { first, _ in first })
    }
    guard let sequence = fields["seq"].flatMap({ Int64($0) }), sequence > 0,
      let hash = fields["hash"].flatMap({ Bytes32(hex: $0) }),
      let at = fields["at"].flatMap({ Int64($0) }).flatMap({ UnixSeconds($0) }), let keyID = fields["kid"],
      let signature = fields["signature"].flatMap({ Base64.decode(Array($0.utf8).span) })
    else { return nil }
    self.init(end: AuditEnd(sequence: sequence, hash: hash), at: at, keyID: keyID, signature: signature)
  }

  static func sign(
    _ end: AuditEnd, at: UnixSeconds, of server: ServerID, with key: TokenKey
  ) throws(IssuingError) -> AuditHead {
    let signature = try key.sign(message(end, at, server))
    return AuditHead(end: end, at: at, keyID: key.identifier, signature: signature)
  }

  /// Whether the key with this point signed it for this gate.
  func isSigned(by point: P256Point, of server: ServerID, _ verifier: P256Verifier) -> Bool {
    guard let signature = DeviceSignature(signature) else { return false }
    return verifier.isValidSignature(
      signature.der.span, digest: Self.message(end, at, server).hash, by: point)
  }

  private static func message(_ end: AuditEnd, _ at: UnixSeconds, _ server: ServerID) -> DeviceMessage {
    .auditHead(server: server, gate: gate, sequence: UInt64(end.sequence), hash: end.hash, at: at)
  }
}
