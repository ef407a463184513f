/// What can be wrong or doubtful in a configuration, each with name, value and what to do about it.
internal import Bytes

/// Where the text of a setting came from.
package enum SettingSource: Sendable, Equatable {
  case standard
  case file(line: Int)
  case environment
}

/// A reason not to start. All of them are reported at once.
package struct ConfigurationProblem: Error, Equatable, Sendable {
  /// Nil for a line of the file that is no setting, and for the file as a whole.
  package let name: String?
  /// As it may be shown: escaped, cut, and nil when it is secret or there is none.
  package let shownValue: String?
  /// `file.env:12` or `environment`; nil when nothing was stated.
  package let place: String?
  /// Completes "NAME …".
  package let reason: String
  /// An imperative.
  package let remedy: String

  init(name: String?, shownValue: String? = nil, place: String? = nil, reason: String, remedy: String) {
    self.name = name
    self.shownValue = shownValue
    self.place = place
    self.reason = reason
    self.remedy = remedy
  }
}

extension ConfigurationProblem: CustomStringConvertible {
  /// `HTTP_TIMEOUT=0s (gate.env:3) is out of range: write seconds, …`
  package var description: String {
    var subject = name ?? ""
    if let shownValue { subject += "=\(shownValue)" }
    if let place { subject += subject.isEmpty ? place : " (\(place))" }
    return "\(subject) \(reason): \(remedy)"
  }
}

/// Why there is no configuration.
package struct ConfigurationFailure: Error, Equatable, Sendable {
  /// In the order of the table, then unknown names; never empty.
  package let problems: [ConfigurationProblem]
  package let warnings: [ConfigurationWarning]
  /// What is named and there all the same; their contents may be wrong too, and are told of in the same run.
  package let files: GateFiles
  /// Of `--config`, for the report.
  package let filePath: String?
  /// In the order of the table: those with a problem as they are stated, the others as they would hold.
  package let settings: [EffectiveSetting]
}

/// Something the operator should know, though the gate starts.
package enum ConfigurationWarning: Equatable, Sendable {
  /// Neither `NODE_ENV` nor `PORTCULLIS_ENV` is set; each item says what is relaxed and how it stands.
  case environmentUnset(relaxed: [String])
  /// A word of `NODE_ENV` that is neither production nor one of the usual others, such as `prod`.
  case unknownEnvironment(name: String, shownValue: String)
  case fallbackIgnoredInProduction
  /// A name of the environment within two letters of a setting's.
  case similarName(String, setting: String)
  /// A name of before, which holds as it did.
  case formerName(String, place: String?, setting: String)
  /// The descriptor limit has no room for what was stated, or for the default.
  case connectionsReduced(from: Int, to: Int, descriptorLimit: Int, needed: Int)
  /// Only where it was stated: the default is meant for a machine with descriptors enough.
  case detachedReduced(from: Int, to: Int, descriptorLimit: Int, needed: Int)
  /// No frame can be as long as `WS_MAX_FRAME_BYTES` allows.
  case messageSmallerThanFrame(messageBytes: Int, frameBytes: Int)
}

extension ConfigurationWarning: CustomStringConvertible {
  /// A word for the log.
  package var code: String {
    switch self {
    case .environmentUnset: "environment_unset"
    case .unknownEnvironment: "environment_unknown"
    case .fallbackIgnoredInProduction: "mtls_fallback_ignored"
    case .similarName: "similar_name"
    case .formerName: "former_name"
    case .connectionsReduced: "connections_reduced"
    case .detachedReduced: "detached_reduced"
    case .messageSmallerThanFrame: "message_smaller_than_frame"
    }
  }

  package var description: String {
    switch self {
    case .environmentUnset(let relaxed):
      "neither NODE_ENV nor PORTCULLIS_ENV is set, so this is not production and is relaxed: "
        + relaxed.joined(separator: "; ") + ". Set PORTCULLIS_ENV=production to end all of this"
    case .unknownEnvironment(let name, let value):
      "\(name)=\(value) is not production (nor development, test or staging): if production is meant, "
        + "write production"
    case .fallbackIgnoredInProduction:
      "ALLOW_MTLS_FALLBACK=true is ignored in production: only the attested app comes in"
    case .similarName(let name, let setting):
      "\(quoted(name)) in the environment is not a setting: is \(setting) meant?"
    case .formerName(let name, let place, let setting):
      "\(name)\(place.map { " (\($0))" } ?? "") is a former name and still holds: write \(setting) instead "
        + "(docs/settings.md, \"Former names\")"
    case .connectionsReduced(let wanted, let possible, let limit, let needed):
      "MAX_CONNECTIONS is \(possible) instead of \(wanted), because only \(limit) descriptors may be open: "
        + "raise the limit (ulimit -n, LimitNOFILE=) to \(needed)"
    case .detachedReduced(let wanted, let possible, let limit, let needed):
      "MAX_DETACHED is \(possible) instead of \(wanted), because only \(limit) descriptors may be open: "
        + "raise the limit (ulimit -n, LimitNOFILE=) to \(needed)"
    case .messageSmallerThanFrame(let messageBytes, let frameBytes):
      "WS_MAX_MESSAGE_BYTES (\(messageBytes)) is less than WS_MAX_FRAME_BYTES (\(frameBytes)), "
        + "so no frame can be that long"
    }
  }
}

/// Bytes of a value that are shown.
let shownLimit = 128

/// A value as it may appear in output, or nil. A key or certificate pasted in place of its path is not shown
/// either.
func shown(_ value: String, isSecret: Bool) -> String? {
  if isSecret || value.contains("-----BEGIN") { return nil }
  return PrintableText.field(value, limit: shownLimit)
}

/// An item of a list, in a message.
func quoted(_ item: String) -> String {
  item.contains("-----BEGIN") ? "an item" : PrintableText.field(item, limit: shownLimit)
}
