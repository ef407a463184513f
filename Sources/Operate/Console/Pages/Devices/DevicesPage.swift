/// `/devices`: phones. Found by the query's `subject`, `state` and `text` (of the name or the id), and gone on with by
/// `after`.
package import System

package struct DevicesPage: Sendable {
  package struct Filter: Equatable, Sendable {
    package var text: String
    package var subject: String
    package var state: DeviceRow.State?

    package init(text: String, subject: String, state: DeviceRow.State? = nil) {
      self.text = text
      self.subject = subject
      self.state = state
    }
  }

  package var filter: Filter
  package var problems: [FieldProblem]
  package var rows: [DeviceRow]
  package var end: ListEnd
  /// Phones that show six digits which somebody has to type; the first page alone shows them.
  package var pairings: [PairingRow]

  package init(
    filter: Filter, problems: [FieldProblem] = [], rows: [DeviceRow], end: ListEnd, pairings: [PairingRow]
  ) {
    self.filter = filter
    self.problems = problems
    self.rows = rows
    self.end = end
    self.pairings = pairings
  }
}

package struct DeviceRow: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    case pending
    case active
    case revoked
  }

  package var id: String
  package var state: State
  package var name: String?
  package var subject: String?
  /// `ios`, `android` and the like.
  package var platform: String
  /// What vouches for its keys: `bare`, `app_attested` or `hardware_attested`.
  package var level: String
  /// How the user is verified: `none`, `app` or `hardware`.
  package var verification: String
  package var createdAt: UnixTime
  package var seenAt: UnixTime?

  package init(
    id: String, state: State, name: String? = nil, subject: String? = nil, platform: String, level: String,
    verification: String, createdAt: UnixTime, seenAt: UnixTime? = nil
  ) {
    self.id = id
    self.state = state
    self.name = name
    self.subject = subject
    self.platform = platform
    self.level = level
    self.verification = verification
    self.createdAt = createdAt
    self.seenAt = seenAt
  }
}

/// A phone that has answered a pairing of the host.
package struct PairingRow: Equatable, Sendable {
  package var id: String
  package var deviceID: String?
  package var name: String?
  package var subject: String?
  package var expiresAt: UnixTime
  /// Of three; afterwards the pairing is over.
  package var triesLeft: Int

  package init(
    id: String, deviceID: String? = nil, name: String? = nil, subject: String? = nil, expiresAt: UnixTime,
    triesLeft: Int
  ) {
    self.id = id
    self.deviceID = deviceID
    self.name = name
    self.subject = subject
    self.expiresAt = expiresAt
    self.triesLeft = triesLeft
  }
}

/// `/devices/<id>`.
package struct DevicePage: Sendable {
  package var device: DeviceRow
  package var activatedAt: UnixTime?
  package var attestedAt: UnixTime?
  package var playAttestedAt: UnixTime?
  package var attestationFailedAt: UnixTime?
  package var revokedAt: UnixTime?
  package var appVersion: String?
  package var patchLevel: String?
  package var isRooted: Bool
  /// Base64, of the App Attest key that vouches for it.
  package var keyID: String?
  /// The device whose place it takes.
  package var replaces: String?
  package var exceptionReason: String?
  package var exceptionUntil: UnixTime?
  package var sessions: [SessionRow]

  package init(
    device: DeviceRow, activatedAt: UnixTime? = nil, attestedAt: UnixTime? = nil,
    playAttestedAt: UnixTime? = nil, attestationFailedAt: UnixTime? = nil, revokedAt: UnixTime? = nil,
    appVersion: String? = nil, patchLevel: String? = nil, isRooted: Bool, keyID: String? = nil,
    replaces: String? = nil, exceptionReason: String? = nil, exceptionUntil: UnixTime? = nil,
    sessions: [SessionRow]
  ) {
    self.device = device
    self.activatedAt = activatedAt
    self.attestedAt = attestedAt
    self.playAttestedAt = playAttestedAt
    self.attestationFailedAt = attestationFailedAt
    self.revokedAt = revokedAt
    self.appVersion = appVersion
    self.patchLevel = patchLevel
    self.isRooted = isRooted
    self.keyID = keyID
    self.replaces = replaces
    self.exceptionReason = exceptionReason
    self.exceptionUntil = exceptionUntil
    self.sessions = sessions
  }
}

/// `/devices/<id>/confirm`: a device becomes active. Posts to itself: `digits` where the phone shows
/// any, else `subject`.
package struct ConfirmDevicePage: Sendable {
  package var device: DeviceRow
  /// The pairing whose digits are to be typed; nil for a phone that has enrolled by itself and shows none.
  package var pairing: PairingRow?
  /// As it was sent.
  package var subject: String
  package var problems: [FieldProblem]

  package init(
    device: DeviceRow, pairing: PairingRow? = nil, subject: String, problems: [FieldProblem] = []
  ) {
    self.device = device
    self.pairing = pairing
    self.subject = subject
    self.problems = problems
  }
}

/// `/devices/<id>/revoke`: asks whether it is meant, and posts to itself.
package struct RevokeDevicePage: Sendable {
  package var device: DeviceRow
  /// Sessions that end with it.
  package var sessions: Int
  package var problems: [FieldProblem]

  package init(device: DeviceRow, sessions: Int, problems: [FieldProblem] = []) {
    self.device = device
    self.sessions = sessions
    self.problems = problems
  }
}
