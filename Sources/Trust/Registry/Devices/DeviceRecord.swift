/// A device as the store keeps it.
package import Bytes
package import DeviceWire
package import Time

package struct DeviceRecord: Equatable, Sendable {
  package enum State: Int, CaseIterable, Sendable {
    /// May read itself, nothing else; gone after a day.
    case pending = 0
    case active = 1
    case revoked = 2

    package var word: String {
      switch self {
      case .pending: "pending"
      case .active: "active"
      case .revoked: "revoked"
      }
    }
  }

  /// What it lacks for its assurance class is passed over until then, for a reason that an operator has written down.
  package struct Exception: Equatable, Sendable {
    package var reason: String
    package var until: UnixTime
    /// What of it: all, unless the operator has named something.
    package var lacks: DeviceLacks

    package init(reason: String, until: UnixTime, lacks: DeviceLacks = .all) {
      self.reason = reason
      self.until = until
      self.lacks = lacks
    }
  }

  /// A device that nobody confirms is gone after a day.
  package static let pendingLife: Duration = .seconds(86_400)

  var endOfPending: UnixTime {
    UnixTime(milliseconds: createdAt.milliseconds + Self.pendingLife.wholeMilliseconds)
  }

  package let id: DeviceID
  package var state: State
  package var subject: Subject?
  package var name: DeviceName?
  package var platform: DevicePlatform
  package var keys: DeviceKeys { didSet { hasOtherKeys = true } }
  package var level: Level
  package var verification: UserVerification
  /// The app's own key: what vouched for its keys, or for those before them, where its level says so no more.
  package var attestedKey: KeyIdentifier? { didSet { hasOtherKeys = true } }
  package let createdAt: UnixTime
  package var activatedAt: UnixTime?
  package var revokedAt: UnixTime?
  package var seenAt: UnixTime?
  package var attestedAt: UnixTime?
  /// When Play Integrity vouched for its keys.
  package var playAttestedAt: UnixTime?
  /// How far it trusted the phone then; nil also where that was not kept.
  package var playTrust: PlayTrust?
  package var attestationFailedAt: UnixTime?
  package var appVersion: String?
  package var patchLevel: String?
  /// It has said so, under its signature.
  package var isRooted = false
  package var exception: Exception?
  /// The device whose place it takes when it becomes active.
  package var replaces: DeviceID?
  /// Tokens of an earlier series are over.
  package var tokenSeries: UInt32 = 0
  /// A key was set since the record was made, or read: keys are indexed, and written only then.
  private(set) var hasOtherKeys = false

  package init(
    id: DeviceID, state: State, subject: Subject?, name: DeviceName?, platform: DevicePlatform,
    keys: DeviceKeys, level: Level, verification: UserVerification, attestedKey: KeyIdentifier? = nil,
    createdAt: UnixTime
  ) {
    self.id = id
    self.state = state
    self.subject = subject
    self.name = name
    self.platform = platform
    self.keys = keys
    self.level = level
    self.verification = verification
    self.attestedKey = attestedKey
    self.createdAt = createdAt
  }
}
