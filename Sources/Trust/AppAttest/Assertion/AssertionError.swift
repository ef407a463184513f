/// Why an assertion is refused: one case for each rule of docs/app-attest.md, "Assertion".
package import CBOR

package enum AssertionError: Error, Equatable, Sendable {
  case tooLarge
  case cbor(CBORError)
  /// CBOR, but not the map it should be.
  case format
  case signatureEncoding
  case signature
  case authenticatorData
  /// Of another app than the one the key was registered for, or of none that is configured.
  case relyingParty
  case appNotConfigured
  case environmentNotAllowed
  case signCount
  case extensions
  case launchPolicy
}

/// The word for the log, in the order of the steps.
package enum AssertionStep: String, Sendable, CaseIterable {
  case size
  case cbor
  case format
  case signatureEncoding = "sig_der"
  case signature
  case authenticatorData = "authdata"
  case relyingParty = "rp_id"
  case appNotConfigured = "app_id"
  case environmentNotAllowed = "environment"
  case signCount = "counter"
  case extensions
  case launchPolicy = "launch_policy"

  /// After the signature, which is over nonce and keys.
  package var isOfWhoAsked: Bool {
    Self.allCases.drop { $0 != .signature }.dropFirst().contains(self)
  }
}

extension AssertionError {
  package var step: AssertionStep {
    switch self {
    case .tooLarge: .size
    case .cbor: .cbor
    case .format: .format
    case .signatureEncoding: .signatureEncoding
    case .signature: .signature
    case .authenticatorData: .authenticatorData
    case .relyingParty: .relyingParty
    case .appNotConfigured: .appNotConfigured
    case .environmentNotAllowed: .environmentNotAllowed
    case .signCount: .signCount
    case .extensions: .extensions
    case .launchPolicy: .launchPolicy
    }
  }
}
