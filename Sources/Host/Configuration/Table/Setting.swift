/// One row of the table of settings: its name, syntax, default and reason, and the field of
/// `GateConfiguration` it fills.
package struct Setting: Sendable {
  package let name: String
  package let group: SettingGroup
  /// What to write, as in "write true or false".
  package let form: String
  /// What is read when nothing is stated; nil when the setting is then absent or computed.
  package let defaultText: String?
  /// What holds then, in words; nil when there is a `defaultText`.
  package let defaultNote: String?
  /// One sentence: what the setting does and why its default is what it is.
  package let reason: String
  /// Its value is never shown.
  package let isSecret: Bool
  /// A change in the file takes effect at SIGHUP; otherwise at the next start.
  package let isReloadable: Bool
  /// The setting to be written instead; the name of before goes on to hold, with a warning.
  package let successor: String?

  let read: @Sendable (String, inout GateConfiguration) throws(SettingError) -> Void
  let isEqual: @Sendable (GateConfiguration, GateConfiguration) -> Bool
  let copy: @Sendable (GateConfiguration, inout GateConfiguration) -> Void

  /// A setting whose field has a value in any case: from `defaultText`, or the blank one that `defaultNote`
  /// describes.
  init<Value>(
    _ name: String, _ syntax: SettingSyntax<Value>,
    _ field: Field<Value>, default defaultText: String? = nil,
    otherwise defaultNote: String? = nil, in group: SettingGroup, isSecret: Bool = false,
    isReloadable: Bool = false, replacedBy successor: String? = nil, _ reason: String
  ) {
    self.name = name
    self.group = group
    form = syntax.form
    self.defaultText = defaultText
    self.defaultNote = defaultNote
    self.reason = reason
    self.isSecret = isSecret
    self.isReloadable = isReloadable
    self.successor = successor
    read = { (text, configuration) throws(SettingError) in
      configuration[keyPath: field] = try syntax.parse(text)
    }
    isEqual = { $0[keyPath: field] == $1[keyPath: field] }
    copy = { source, target in target[keyPath: field] = source[keyPath: field] }
  }

  /// A setting whose field is nil when nothing is stated.
  init<Value>(
    _ name: String, _ syntax: SettingSyntax<Value>,
    optional field: Field<Value?>, otherwise defaultNote: String,
    in group: SettingGroup, isSecret: Bool = false, isReloadable: Bool = false,
    replacedBy successor: String? = nil, _ reason: String
  ) {
    let optional = SettingSyntax<Value?>(syntax.form) { (text) throws(SettingError) in try syntax.parse(text)
    }
    self.init(
      name, optional, field, otherwise: defaultNote, in: group, isSecret: isSecret,
      isReloadable: isReloadable, replacedBy: successor,
      reason)
  }
}

package enum SettingGroup: String, CaseIterable, Sendable {
  case environment = "Environment"
  case listening = "Listening"
  case game = "The game"
  case sessions = "Sessions"
  case admission = "Admission"
  case attestation = "App Attest"
  case store = "Key store"
  case devices = "Devices"
  case operation = "Operation"
  case admin = "Admin listener"
  case limits = "Limits"
}

/// The place in a configuration that a setting fills.
typealias Field<Value> = any WritableKeyPath<GateConfiguration, Value> & Sendable
