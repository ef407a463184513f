/// What is wrong with what a peer would be let in by (docs/protocol.md, "Admission").
package import AppAttest
internal import PortcullisProtocol

extension Refusal {
  /// Neither assertion, device key nor client certificate.
  package static let noCredential = Refusal(.assertionRequired, step: "no_credential")

  package static func revoked(_ credential: Credential) -> Refusal {
    credential.deviceID == nil
      ? Refusal(.keyRevoked, step: "key_revoked") : Refusal(.deviceRevoked, step: "device_revoked")
  }

  /// Of an assertion. Where its app or environment is not configured, another registration is what helps.
  package init(of error: AssertionError) {
    let mustRegister = error == .appNotConfigured || error == .environmentNotAllowed
    self.init(mustRegister ? .keyUnknown : .assertionRejected, step: error.step.rawValue)
  }
}
