/// What a challenge was asked for, where it was asked for something (docs/protocol.md, "Challenges").
internal import Bytes

package enum ChallengePurpose: String, CaseIterable, Sendable {
  case enroll, attest, rotate
  /// Whatever the device key signs: tokens, upgrades, heartbeats.
  case device
  case otp, presence

  /// How long one is good: keys and attestations take a phone their time, and who is to be near has to be quick.
  package var lifetime: Duration {
    switch self {
    case .enroll, .attest, .rotate: .seconds(120)
    case .device, .otp: .seconds(60)
    case .presence: .seconds(10)
    }
  }

  /// Whether a peer may ask for one by name. Presence has to do with two parties, and is asked for elsewhere.
  package var isAskedForByName: Bool { self != .presence }

  /// What the tag covers behind the nonce's first half. 0 is nobody's, and a challenge without a purpose has nothing there.
  fileprivate var number: UInt8 {
    switch self {
    case .enroll: 1
    case .attest: 2
    case .rotate: 3
    case .device: 4
    case .otp: 5
    case .presence: 6
    }
  }
}

/// What a challenge is for: what its tag covers beside itself, so that it is good for nothing else.
package struct ChallengeScope: Equatable, Sendable {
  package let purpose: ChallengePurpose?
  /// Whom or what it is about, in bytes of one length for each purpose.
  private let context: [UInt8]

  /// The door's own: for one registration or one assertion.
  package static let door = ChallengeScope(purpose: nil, context: [])

  package static func purpose(_ purpose: ChallengePurpose, about context: [UInt8] = []) -> ChallengeScope {
    ChallengeScope(purpose: purpose, context: context)
  }

  package var lifetime: Duration { purpose?.lifetime ?? ChallengeIssuer.lifetime }

  /// What is authenticated of a nonce that begins with `sealed`.
  func tagged(_ sealed: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(copying: sealed)
    if let purpose { bytes += [purpose.number] + context }
    return bytes
  }
}
