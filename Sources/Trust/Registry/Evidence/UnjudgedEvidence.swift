/// Evidence that other designs ask for and no gate can judge by itself: whoever sends it is told why (docs/devices-messages.md,
/// "Evidence").

package enum UnjudgedEvidence: String, CaseIterable, Sendable {
  case safetyNet = "safetynet"
  case deviceCheck = "device_check"
  /// A token of Play Integrity that only Google opens.
  case standardRequest = "standard_request"

  /// The step of a form whose `attestation_type` names it.
  var step: String { "attestation_type_\(rawValue)" }

  package init?(step: String) {
    guard let found = Self.allCases.first(where: { $0.step == step }) else { return nil }
    self = found
  }

  /// For the developer who reads the answer; one line, without anything that JSON escapes.
  package var sentence: String {
    switch self {
    case .safetyNet:
      "Google has switched SafetyNet off: send a token of Play Integrity, or a key attestation."
    case .deviceCheck:
      "DeviceCheck is judged by Apple's servers, which this gate does not ask: send App Attest."
    case .standardRequest:
      "Tokens of standard requests are opened by Google's servers, which this gate does not ask: make a classic request."
    }
  }
}
