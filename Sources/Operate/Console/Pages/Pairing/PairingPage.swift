/// `/devices/pair` and `/devices/pair/<id>`: a phone is paired by a code that it scans and by six digits that it shows.
internal import QRCode
import Time

/// Whose phone it will be, and what it is to be called. Posts to itself with `subject` and `name`.
struct PairPage: Sendable {
  /// As they were sent.
  var subject = ""
  var name = ""
  var problems: [FieldProblem] = []
}

/// The code, the time left and the field for the digits. Posts to itself with `digits`, and to `/devices/pair/<id>/end`.
struct PairingPage: Sendable {
  enum Stage: String, CaseIterable, Sendable {
    /// No phone has answered.
    case open
    /// A phone has scanned the code.
    case answered
    /// It shows its digits.
    case revealed
    case active
    /// Given up, refused, or too late.
    case over
  }

  var id: String
  var stage: Stage
  /// What the code says; nil once it is of no use, and for who may change nothing.
  var uri: String?
  var subject: String?
  var deviceID: String?
  /// The phone's own: it does not tell it from another one.
  var deviceName: String?
  /// What vouches for its keys.
  var level: String?
  var platform: String?
  var expiresAt: UnixTime
  var triesLeft: Int
  var problems: [FieldProblem] = []
}
