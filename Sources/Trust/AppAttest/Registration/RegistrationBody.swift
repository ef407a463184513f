/// The body of `POST /attest/register` (docs/protocol.md, "Registration"): the members that count, read from its JSON.
package import Bytes
internal import JSON
internal import PortcullisProtocol

package struct RegistrationBody: Sendable {
  package static let depthLimit = 8
  /// Values in all; four count.
  package static let valueLimit = 64

  package let keyID: KeyIdentifier
  /// CBOR, not looked at yet.
  package let attestation: [UInt8]
  package let nonce: Bytes32

  package struct Malformed: Error, Equatable {
    package let step: String
  }

  package init(_ body: [UInt8]) throws(Malformed) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: body.span, depthLimit: Self.depthLimit, valueLimit: Self.valueLimit)
    } catch {
      // A step is one word, as logs and tables have it.
      let rule = error.rule.rawValue.lowercased().split(separator: " ").joined(separator: "_")
      throw Malformed(step: "json_\(rule)")
    }
    guard let object = value.object else { throw Malformed(step: "json_object") }
    guard let keyID = object[MemberName.keyID]?.string, let identifier = KeyIdentifier(base64: keyID) else {
      throw Malformed(step: "key_id")
    }
    guard let text = object[MemberName.attestation]?.string,
      let attestation = Base64.decode(Array(text.utf8).span)
    else { throw Malformed(step: "attestation_base64") }
    // Two names for one thing: whichever is given, but not both (docs/protocol.md, "Registration").
    guard object[MemberName.clientData] == nil || object[MemberName.nonce] == nil else {
      throw Malformed(step: "client_data_and_nonce")
    }
    guard let hex = (object[MemberName.clientData] ?? object[MemberName.nonce])?.string,
      let bytes = Hex.decode(Array(hex.utf8).span),
      let nonce = Bytes32(bytes)
    else { throw Malformed(step: "client_data") }
    self.keyID = identifier
    self.attestation = attestation
    self.nonce = nonce
  }
}
