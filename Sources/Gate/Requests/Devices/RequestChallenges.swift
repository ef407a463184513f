/// The challenges that requests about devices name or ask for, as the connection has them (docs/protocol.md,
/// "Challenges").
package import Admission
package import Bytes
internal import DeviceWire
internal import PortcullisProtocol
package import Registry

package protocol RequestChallenges {
  /// Takes the challenge away: of all requests with one nonce, one goes on.
  func spend(_ nonce: Bytes32, for scope: ChallengeScope) throws(Refusal) -> SpentNonce
  func issue(for scope: ChallengeScope) throws(Refusal) -> Challenge
}

extension DeviceBody {
  func spend(_ nonce: Bytes32, _ purpose: ChallengePurpose) throws(Refusal) -> SpentNonce {
    try challenges.spend(nonce, for: .purpose(purpose))
  }

  /// Nil for one that is none of the gate's challenges: the registry may have given it out.
  func spendIfIssued(_ nonce: Bytes32, _ purpose: ChallengePurpose) -> SpentNonce? {
    do throws(Refusal) { return try spend(nonce, purpose) } catch { return nil }
  }

  /// Of the two parties of a presence: no other device and no other desktop can use its challenge.
  func presence(of device: DeviceID) throws(Refusal) -> ChallengeScope {
    guard let desktop = request.service else { throw Refusal(.internalError, step: "endpoint") }
    return .purpose(.presence, about: device.bytes + desktop.bytes)
  }
}
