/// The three fields of an upgrade that carry an assertion (docs/protocol.md, "Admission").
package import Bytes
package import HTTPWire
internal import PortcullisProtocol

package struct AssertionHeaders {
  package let keyID: KeyIdentifier
  /// The assertion's CBOR, not looked at yet.
  package let assertion: [UInt8]
  package let nonce: Bytes32

  package enum Refused: Error, Equatable {
    /// Fields of this family, but none that is known.
    case unknownOnly
    case malformed(step: String)
  }

  package init(_ head: RequestHead) throws(Refused) {
    let keyID = head.valueBytes(HeaderName.assertionKeyID)
    let data = head.valueBytes(HeaderName.assertionData)
    let nonce = head.valueBytes(HeaderName.assertionNonce)
    if keyID == nil, data == nil, nonce == nil { throw .unknownOnly }
    guard let keyID, let data, let nonce else { throw .malformed(step: "assertion_header_missing") }
    guard let identifier = KeyIdentifier(base64: keyID.span) else { throw .malformed(step: "key_id") }
    guard let assertion = Base64.decode(data.span) else {
      throw .malformed(step: "assertion_base64")
    }
    guard let bytes = Hex.decode(nonce.span), let challenge = Bytes32(bytes) else {
      throw .malformed(step: "nonce_hex")
    }
    self.keyID = identifier
    self.assertion = assertion
    self.nonce = challenge
  }
}
