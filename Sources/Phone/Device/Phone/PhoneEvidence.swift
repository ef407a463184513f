/// What an app says for a phone's keys: App Attest, over all of them and the gate's nonce (docs/devices.md,
/// "Messages").
package import Bytes
internal import DeviceWire
internal import System

package struct PhoneEvidence: Equatable, Sendable {
  package enum Statement: Equatable, Sendable {
    /// Of a key that the gate does not know yet.
    case attestation([UInt8])
    case assertion([UInt8])
  }

  package let key: KeyIdentifier
  package let statement: Statement
  /// Where it stands beside a request's own.
  package let nonce: Bytes32?

  package init(key: KeyIdentifier, _ statement: Statement, nonce: Bytes32? = nil) {
    self.key = key
    self.statement = statement
    self.nonce = nonce
  }

  var form: PhoneForm {
    var form = PhoneForm()
    form.add("attestation_type", "app_attest")
    form.add("key_id", key.base64)
    switch statement {
    case .attestation(let bytes): form.add("att_obj", Base64.encodeURL(bytes.span))
    case .assertion(let bytes): form.add("assertion", Base64.encodeURL(bytes.span))
    }
    form.add("nonce", nonce?.hex)
    return form
  }
}

/// The app on a software phone: an App Attest key, and the authority that plays Apple's part.
package struct PhoneApp {
  package let enclave: SoftwareEnclave
  package let authority: TestAttestationAuthority

  package init(_ enclave: SoftwareEnclave, _ authority: TestAttestationAuthority) {
    self.enclave = enclave
    self.authority = authority
  }

  /// - Parameters:
  ///   - isKnown: whether the gate has the app's key already, which then signs an assertion.
  ///   - carriesNonce: whether the challenge is the evidence's own.
  func evidence(
    for keys: PhoneKeys, _ challenge: PhoneChallenge, isKnown: Bool, carriesNonce: Bool = false
  ) throws(DeviceError) -> PhoneEvidence {
    let message = DeviceMessage.appAttest(
      server: challenge.server, keys: keys.names, nonce: challenge.nonce)
    let statement: PhoneEvidence.Statement =
      if isKnown {
        .assertion(try enclave.assert(clientDataHash: message.hash))
      } else {
        .attestation(
          try enclave.attest(
            clientDataHash: message.hash, by: authority, now: SystemClock().wall()))
      }
    return PhoneEvidence(
      key: enclave.keyIdentifier, statement, nonce: carriesNonce ? challenge.nonce : nil)
  }
}
