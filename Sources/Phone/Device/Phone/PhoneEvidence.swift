/// What vouches for a phone's keys, as requests carry it (docs/devices-messages.md, "Messages").
package import Bytes

package struct PhoneEvidence: Equatable, Sendable {
  package enum Statement: Equatable, Sendable {
    /// App Attest, of a key that the gate does not know yet.
    case attestation([UInt8], by: KeyIdentifier)
    case assertion([UInt8], by: KeyIdentifier)
    /// Play Integrity, of an app that names the keys.
    case playToken(String)
    /// Android Key Attestation, of the keys themselves: each with its chain, from the leaf to the root.
    case keyChains(device: [[UInt8]], approval: [[UInt8]]?)
  }

  package let statement: Statement
  /// Where it stands beside a request's own.
  package let nonce: Bytes32?

  package init(_ statement: Statement, nonce: Bytes32? = nil) {
    self.statement = statement
    self.nonce = nonce
  }

  var form: PhoneForm {
    var form = PhoneForm()
    switch statement {
    case .attestation(let bytes, let key):
      form.add("attestation_type", "app_attest")
      form.add("key_id", key.base64)
      form.add("att_obj", Base64.encodeURL(bytes.span))
    case .assertion(let bytes, let key):
      form.add("attestation_type", "app_attest")
      form.add("key_id", key.base64)
      form.add("assertion", Base64.encodeURL(bytes.span))
    case .playToken(let token):
      form.add("attestation_type", "play_integrity")
      form.add("jws_token", token)
    case .keyChains(let device, let approval):
      form.add("attestation_type", "android_key")
      form.add("x5c", device.map { Base64.encodeURL($0.span) })
      form.add("approval_x5c", approval?.map { Base64.encodeURL($0.span) })
    }
    form.add("nonce", nonce?.hex)
    return form
  }
}
