/// `/configuration`: what is set and by what, what `check` says, and reading it again (POST `/configuration/reload`).
import Time

struct ConfigurationPage: Sendable {
  struct Setting: Equatable, Sendable {
    enum Origin: String, CaseIterable, Sendable {
      case standard
      case file
      case environment
    }

    var name: String
    /// Nil when it is not set, or must not be shown.
    var value: String?
    var isHidden: Bool
    var origin: Origin
    /// The line in the file.
    var line: Int?
    /// Whether a reload takes it.
    var isReloadable: Bool
    var note: String?
  }

  /// One line of `portcullis check`.
  struct Finding: Equatable, Sendable {
    var standing: Standing
    var subject: String
    var text: String
  }

  enum Reload: Equatable, Sendable {
    case taken(changed: [String])
    /// These changed, and hold from the next start on.
    case needsRestart(changed: [String], waiting: [String])
    /// An event loop does not turn, and goes on as before until it does; the others have taken it.
    case late
    /// Everything is as it was before.
    case refused(problems: [String])
  }

  var settings: [Setting]
  /// Path of `--config`; nil without.
  var file: String?
  /// Nil where it is not known yet.
  var findings: [Finding]?
  var checkedAt: UnixTime?
  var readAt: UnixTime
  /// Of the last one since the start, with its time.
  var lastReload: Reload?
  var lastReloadAt: UnixTime?
  var problems: [FieldProblem] = []
}
