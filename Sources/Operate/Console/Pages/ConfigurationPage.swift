/// `/configuration`: what is set and by what, what `check` says, and reading it again (POST `/configuration/reload`).
package import System

package struct ConfigurationPage: Sendable {
  package struct Setting: Equatable, Sendable {
    package enum Origin: String, CaseIterable, Sendable {
      case standard
      case file
      case environment
    }

    package var name: String
    /// Nil when it is not set, or must not be shown.
    package var value: String?
    package var isHidden: Bool
    package var origin: Origin
    /// The line in the file.
    package var line: Int?
    /// Whether a reload takes it.
    package var isReloadable: Bool
    package var note: String?

    package init(
      name: String, value: String? = nil, isHidden: Bool, origin: Origin, line: Int? = nil,
      isReloadable: Bool, note: String? = nil
    ) {
      self.name = name
      self.value = value
      self.isHidden = isHidden
      self.origin = origin
      self.line = line
      self.isReloadable = isReloadable
      self.note = note
    }
  }

  /// One line of `portcullis check`.
  package struct Finding: Equatable, Sendable {
    package var standing: Standing
    package var subject: String
    package var text: String

    package init(standing: Standing, subject: String, text: String) {
      self.standing = standing
      self.subject = subject
      self.text = text
    }
  }

  package enum Reload: Equatable, Sendable {
    case taken(changed: [String])
    /// These changed, and hold from the next start on.
    case needsRestart(changed: [String], waiting: [String])
    /// An event loop does not turn, and goes on as before until it does; the others have taken it.
    case late
    /// Everything is as it was before.
    case refused(problems: [String])
  }

  package var settings: [Setting]
  /// Path of `--config`; nil without.
  package var file: String?
  /// Nil where it is not known yet.
  package var findings: [Finding]?
  package var checkedAt: UnixTime?
  package var readAt: UnixTime
  /// Of the last one since the start, with its time.
  package var lastReload: Reload?
  package var lastReloadAt: UnixTime?
  package var problems: [FieldProblem]

  package init(
    settings: [Setting], file: String? = nil, findings: [Finding]? = nil, checkedAt: UnixTime? = nil,
    readAt: UnixTime, lastReload: Reload? = nil, lastReloadAt: UnixTime? = nil, problems: [FieldProblem] = []
  ) {
    self.settings = settings
    self.file = file
    self.findings = findings
    self.checkedAt = checkedAt
    self.readAt = readAt
    self.lastReload = lastReload
    self.lastReloadAt = lastReloadAt
    self.problems = problems
  }
}
