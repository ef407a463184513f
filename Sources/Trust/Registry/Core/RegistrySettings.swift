/// What the operator has set for devices; replaced as a whole by a reload.
package import Addresses
package import ApprovalPolicy
package import Crypto
package import DeviceWire
package import Risk

package struct RegistrySettings: Sendable {
  /// The issuer of tokens, and what a QR code names: `https://host[:port]`.
  package var publicURL: String
  /// How long what has ended is kept.
  package var retention: Duration = .seconds(30 * 86_400)
  /// Evidence makes a device active; else an operator does.
  package var evidenceActivates = false
  /// What enrolment, pairing and votes ask of a device at least.
  package var minimumLevel = Level.bare
  package var devicesPerSubject = 5
  /// From which on devices come in to play by their own keys; nil when none does.
  package var doorLevel: Level?
  /// Who else may be named in a token's `aud`.
  package var tokenAudiences: [String] = []
  /// What approvals take.
  package var approvals = ApprovalPolicy.none
  /// Users of the host whose word counts as an operator's factor.
  package var approvalOperators: Set<UInt32> = []
  /// What their accounts are called, where they have a name.
  package var approvalOperatorNames: [UInt32: String] = [:]
  /// What is expected of the devices of a subject.
  package var assurance = AssurancePolicy.none
  /// What is made of reasons to doubt a phone that asks for a code.
  package var risk = RiskPolicy.default
  /// Where addresses are; nil where nobody knows.
  package var places: (any PlaceDirectory)?
  /// The server's key and, where there is one, the key that it is to have next.
  package var pins: [PublicKeyPin] = []
  /// A key that no device was told of may be used all the same.
  package var pinsAreForced = false
  /// How old a proof of nearness may be.
  package var presenceMaximumAge: Duration = .seconds(60)
  /// How long a one-time code is good.
  package var codeLife: Duration = .seconds(120)
  /// How old the last attestation of a device may be that asks for one, where its class says nothing else.
  package var codeAttestationMaximumAge: Duration = .seconds(600)
  /// How many bytes a service may leave in the store within a day.
  package var serviceBytesPerDay = 64 << 20
  /// How strong a phone's signal has to be for desktops.
  package var presenceStrengths = SignalStrengths.none

  package init(publicURL: String) {
    self.publicURL = publicURL
  }
}
