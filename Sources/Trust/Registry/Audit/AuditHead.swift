/// The end of the audit's chain as the gate has vouched for it: whoever keeps one outside of the store finds out when rows
/// before it are changed or gone.
package import Bytes
package import Crypto
internal import DeviceTokens
package import DeviceWire
internal import JSON

package struct AuditHead: Equatable, Sendable {
  /// Who has signed it, so that nothing else of the gate's is needed to judge it.
  package struct Signer: Equatable, Sendable {
    package let server: ServerID
    package let key: P256Point
  }

  /// There is one gate at a store, and one chain.
  package static let gate = "main"

  package let end: AuditEnd
  package let at: UnixSeconds
  /// `kid` of the token key that signed.
  package let keyID: String
  /// DER, of the message `portcullis/audit-head/v1`.
  package let signature: [UInt8]
  /// Nil where the line does not say.
  package let signer: Signer?

  package init(
    end: AuditEnd, at: UnixSeconds, keyID: String, signature: [UInt8], signer: Signer? = nil
  ) {
    self.end = end
    self.at = at
    self.keyID = keyID
    self.signature = signature
    self.signer = signer
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
    var signer: Signer?
    if let server = fields["server_id"].flatMap({ ServerID($0) }),
      let key = fields["key"].flatMap({ Base64.decodeURL(Array($0.utf8).span) }).flatMap({
        P256Point(x963: $0.span)
      })
    {
      signer = Signer(server: server, key: key)
    }
    self.init(
      end: AuditEnd(sequence: sequence, hash: hash), at: at, keyID: keyID, signature: signature,
      signer: signer)
  }

  static func sign(
    _ end: AuditEnd, at: UnixSeconds, of server: ServerID, with key: TokenKey
  ) throws(IssuingError) -> AuditHead {
    let signature = try key.sign(message(end, at, server))
    return AuditHead(
      end: end, at: at, keyID: key.identifier, signature: signature,
      signer: Signer(server: server, key: key.point))
  }

  /// Whether the key that it names itself has signed it, and is the one of `keyID`. Whose that one is, is for others to know.
  package func isSigned(_ verifier: P256Verifier) -> Bool {
    guard let signer, KeyThumbprint(signer.key).text.isSameText(as: keyID) else { return false }
    return isSigned(by: signer.key, of: signer.server, verifier)
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
