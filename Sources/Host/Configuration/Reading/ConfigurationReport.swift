/// What `portcullis config` prints: every setting as it holds, and where it came from.
internal import Bytes

package struct EffectiveSetting: Sendable, Equatable {
  package let name: String
  /// Nil when the setting is not set, or must not be shown.
  package let value: String?
  package let isHidden: Bool
  package let source: SettingSource
  package let isReloadable: Bool
  /// Why the value is not the stated one, or what holds while there is none.
  package let note: String?

  static func all(of configuration: GateConfiguration, stated: [String: StatedSetting]) -> [EffectiveSetting]
  {
    // A former name is shown where it is stated.
    SettingTable.settings.filter { $0.successor == nil || stated[$0.name] != nil }.map { setting in
      let stated = stated[setting.name]
      let computed = computedValue(of: setting.name, configuration)
      let value = computed?.value ?? stated?.text ?? setting.defaultText
      let isHidden = value.map { setting.isSecret || $0.contains("-----BEGIN") } ?? false
      return EffectiveSetting(
        name: setting.name, value: isHidden ? nil : value, isHidden: isHidden,
        source: stated?.source ?? .standard,
        isReloadable: setting.isReloadable,
        note: computed?.note ?? (value == nil ? setting.defaultNote : nil))
    }
  }

  /// Where what holds is not simply what was stated.
  private static func computedValue(
    of name: String, _ configuration: GateConfiguration
  ) -> (value: String, note: String?)? {
    switch name {
    case "ALLOW_MTLS_FALLBACK":
      let isIgnored = configuration.stated.allowsFallback && !configuration.mtls.fallback
      return isIgnored ? ("false", "ignored in production") : nil
    case "WORKERS": return ("\(configuration.workers)", nil)
    case "MAX_DETACHED":
      let wanted = configuration.stated.maximumDetached
      let holds = configuration.limits.detached
      guard configuration.sessions.canBeDetached else { return ("\(wanted)", "no session can be detached") }
      return ("\(holds)", holds < wanted ? "\(wanted) needs more descriptors" : nil)
    case "MAX_CONNECTIONS":
      let wanted = configuration.stated.maximumConnections ?? Limits.defaultConnections
      let holds = configuration.limits.connections
      return ("\(holds)", holds < wanted ? "\(wanted) needs more descriptors" : nil)
    default: return nil
    }
  }
}

package enum ConfigurationReport {
  /// One line a setting, which the file of `--config` could hold as it is: `NAME=value  # source`.
  package static func text(_ loaded: LoadedConfiguration) -> String {
    loaded.settings.map { line($0, loaded.filePath) + "\n" }.joined()
  }

  /// The same where there are problems: each is a comment, in the place of its setting or before all settings.
  package static func text(_ failure: ConfigurationFailure) -> String {
    let sorted = SortedProblems(failure)
    let lines =
      sorted.others.map { "# \($0)" }
      + failure.settings.flatMap { setting in
        sorted.bySetting[setting.name]?.map { "# \($0)" } ?? [line(setting, failure.filePath)]
      }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func line(_ setting: EffectiveSetting, _ filePath: String?) -> String {
    var line: String
    if let value = setting.value {
      line = "\(setting.name)=\(fileValue(value))  # \(source(setting, filePath))"
    } else if setting.isHidden {
      line = "# \(setting.name) is set and not shown: \(source(setting, filePath))"
    } else {
      line = "# \(setting.name) is not set"
    }
    if let note = setting.note { line += setting.value == nil ? ": \(note)" : ", \(note)" }
    return line
  }

  /// One JSON object a line: name, value (null when not set or hidden), source, reloadable, and hidden, line
  /// and note where they apply.
  package static func json(_ loaded: LoadedConfiguration) -> String {
    loaded.settings.map { object($0, loaded.filePath) }.joined()
  }

  /// The same where there are problems: a setting that has some has no value, and names them in `problems`. Those of no
  /// setting stand in an object of their own before all settings.
  package static func json(_ failure: ConfigurationFailure) -> String {
    let sorted = SortedProblems(failure)
    let others = sorted.others.isEmpty ? "" : "{\"problems\":\(array(sorted.others))}\n"
    return others
      + failure.settings.map { setting in
        object(setting, failure.filePath, problems: sorted.bySetting[setting.name] ?? [])
      }.joined()
  }

  private static func object(
    _ setting: EffectiveSetting, _ filePath: String?, problems: [String] = []
  ) -> String {
    let value = problems.isEmpty ? setting.value : nil
    var members = [
      "\"name\":\(PrintableText.json(setting.name))", "\"value\":\(value.map(PrintableText.json) ?? "null")",
    ]
    if setting.isHidden { members.append("\"hidden\":true") }
    switch setting.source {
    case .standard: members.append("\"source\":\"default\"")
    case .environment: members.append("\"source\":\"environment\"")
    case .file(let line):
      members.append("\"source\":\"file\",\"file\":\(PrintableText.json(filePath ?? "")),\"line\":\(line)")
    }
    members.append("\"reloadable\":\(setting.isReloadable)")
    if let note = setting.note { members.append("\"note\":\(PrintableText.json(note))") }
    if !problems.isEmpty { members.append("\"problems\":\(array(problems))") }
    return "{\(members.joined(separator: ","))}\n"
  }

  private static func array(_ texts: [String]) -> String {
    "[\(texts.map(PrintableText.json).joined(separator: ","))]"
  }

  private static func source(_ setting: EffectiveSetting, _ filePath: String?) -> String {
    switch setting.source {
    case .standard: "default"
    case .environment: "environment"
    case .file(let line): "\(quoted(filePath ?? "file")):\(line)"
    }
  }

  /// Bare where nothing in the value could be taken for something else, otherwise quoted.
  private static func fileValue(_ value: String) -> String {
    let isBare = value.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        || "_-./:,+@%*[]".utf8.contains(byte)
    }
    if isBare { return value }
    // The escapes of PrintableText beyond the file's own appear only for what no file could state.
    var field = PrintableText.field(value)
    if !field.hasPrefix("\"") { field = "\"\(field)\"" }
    return field
  }
}

/// Problems by the settings that they are of.
private struct SortedProblems {
  private(set) var bySetting: [String: [String]] = [:]
  private(set) var others: [String] = []

  init(_ failure: ConfigurationFailure) {
    for problem in failure.problems {
      if let name = problem.name, SettingTable.setting(named: name) != nil {
        bySetting[name, default: []].append(problem.description)
      } else {
        others.append(problem.description)
      }
    }
  }
}
