/// `/devices`: phones. Found by the query's `subject`, `state` and `text` (of the name or the id), and gone on with by
/// `after`.
import Time

struct DevicesPage: Sendable {
  struct Filter: Equatable, Sendable {
    var text: String
    var subject: String
    var state: DeviceRow.State?
  }

  var filter: Filter
  var problems: [FieldProblem] = []
  var rows: [DeviceRow]
  var end: ListEnd
  /// Phones that show six digits which somebody has to type; the first page alone shows them.
  var pairings: [PairingRow]
}

struct DeviceRow: Equatable, Sendable {
  enum State: String, CaseIterable, Sendable {
    case pending
    case active
    case revoked
  }

  var id: String
  var state: State
  var name: String?
  var subject: String?
  /// `ios`, `android` and the like.
  var platform: String
  /// What vouches for its keys: `bare`, `app_attested` or `hardware_attested`.
  var level: String
  /// How the user is verified: `none`, `app` or `hardware`.
  var verification: String
  var createdAt: UnixTime
  var seenAt: UnixTime?
}

/// A phone that has answered a pairing of the host.
struct PairingRow: Equatable, Sendable {
  var id: String
  var deviceID: String?
  var name: String?
  var subject: String?
  var expiresAt: UnixTime
  /// Of three; afterwards the pairing is over.
  var triesLeft: Int
}

/// `/devices/<id>`.
struct DevicePage: Sendable {
  var device: DeviceRow
  var activatedAt: UnixTime?
  var attestedAt: UnixTime?
  var playAttestedAt: UnixTime?
  var attestationFailedAt: UnixTime?
  var revokedAt: UnixTime?
  var appVersion: String?
  var patchLevel: String?
  var isRooted: Bool
  /// Base64, of the App Attest key that vouches for it.
  var keyID: String?
  /// The device whose place it takes.
  var replaces: String?
  var exceptionReason: String?
  var exceptionUntil: UnixTime?
  var sessions: [SessionRow]
  /// The latest first, of the device and of its App Attest key.
  var refusals: [RefusalRow] = []
}

/// `/devices/<id>/confirm`: a device becomes active. Posts to itself: `digits` where the phone shows
/// any, else `subject`.
struct ConfirmDevicePage: Sendable {
  var device: DeviceRow
  /// The pairing whose digits are to be typed; nil for a phone that has enrolled by itself and shows none.
  var pairing: PairingRow?
  /// As it was sent.
  var subject: String
  var problems: [FieldProblem] = []
}

/// `/devices/<id>/revoke`: asks whether it is meant, and posts to itself.
struct RevokeDevicePage: Sendable {
  var device: DeviceRow
  /// Sessions that end with it.
  var sessions: Int
  var problems: [FieldProblem] = []
}
