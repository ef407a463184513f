/// From environment and file to a configuration, or to everything that is wrong with them (docs/settings.md,
/// "Problems").
///
/// 1. The file is split into lines. 2. Names are checked. 3. Each setting is read, the environment before the
/// file. 4. `CombinationRules` looks at what the values mean together. Pure but for the seam on files.
package struct ConfigurationLoader {
  package struct File: Sendable {
    /// As `--config` has it, for messages.
    package let path: String
    package let contents: [UInt8]

    package init(path: String, contents: [UInt8]) {
      self.path = path
      self.contents = contents
    }
  }

  /// How much has to be right.
  package enum Scope: Sendable {
    /// Everything, as for `serve`, `check` and `config`.
    case server
    /// Names and values only: commands on the store need neither certificates nor app ids.
    case values
  }

  /// - Parameters:
  ///   - environment: names and values; the first of a name counts, as for getenv(3).
  ///   - processors: online ones, the default of `WORKERS`.
  ///   - descriptorLimit: RLIMIT_NOFILE, the soft one.
  package static func load(
    environment: [(String, String)], file: File? = nil, files: any ConfigurationFiles, processors: Int,
    descriptorLimit: Int, scope: Scope = .server
  ) throws(ConfigurationFailure) -> LoadedConfiguration {
    var loader = ConfigurationLoader(file: file)
    loader.readFile()
    loader.readEnvironment(environment)
    loader.readSettings()
    loader.warnOfFormerNames()
    loader.configuration.origin = GateConfiguration.Origin(
      file: file?.path, statedNames: Set(loader.stated.keys))
    var rules = CombinationRules(
      configuration: loader.configuration, stated: loader.stated, invalid: loader.invalid,
      places: loader.stated.mapValues { loader.place($0.source) })
    rules.resolve(processors: processors, descriptorLimit: descriptorLimit)
    if scope == .server { rules.check(files) }
    let problems = loader.problems + rules.problems
    let ordered = SettingTable.settings.flatMap { setting in problems.filter { $0.name == setting.name } }
    let others = loader.lineProblems + loader.nameProblems
    let warnings = loader.warnings + rules.warnings
    guard others.isEmpty, ordered.isEmpty else {
      throw ConfigurationFailure(
        problems: others + ordered, warnings: warnings, files: rules.usableFiles, filePath: file?.path,
        settings: EffectiveSetting.all(of: rules.configuration, stated: loader.stated))
    }
    return LoadedConfiguration(
      configuration: rules.configuration, warnings: warnings, filePath: file?.path,
      settings: EffectiveSetting.all(of: rules.configuration, stated: loader.stated))
  }

  private let file: File?
  private var stated: [String: StatedSetting] = [:]
  private var configuration = GateConfiguration()
  /// Settings whose text is not a value: combinations with them are not looked at.
  private var invalid: Set<String> = []
  private var lineProblems: [ConfigurationProblem] = []
  private var nameProblems: [ConfigurationProblem] = []
  private var problems: [ConfigurationProblem] = []
  private var warnings: [ConfigurationWarning] = []

  private init(file: File?) {
    self.file = file
  }

  private mutating func readFile() {
    guard let file else { return }
    let lines = EnvironmentFile(parsing: file.contents.span)
    for error in lines.errors {
      // The value of an unknown name is not shown: nobody knows what it is.
      let setting = error.name.flatMap { SettingTable.setting(named: $0) }
      lineProblems.append(
        ConfigurationProblem(
          name: error.name.map(quoted),
          shownValue: setting.flatMap { setting in
            error.value.flatMap { shown($0, isSecret: setting.isSecret) }
          },
          place: error.line == 0 ? path(file) : place(.file(line: error.line)),
          reason: "\(error.rule)", remedy: error.rule.remedy))
    }
    if lines.errors.count >= EnvironmentFile.mostErrors {
      lineProblems.append(
        ConfigurationProblem(
          name: nil, place: path(file), reason: "has too many wrong lines to go on",
          remedy: "check that it is a file of settings"))
    }
    for entry in lines.entries {
      if SettingTable.setting(named: entry.name) == nil {
        refuse(entry.name, at: .file(line: entry.line))
      } else {
        stated[entry.name] = StatedSetting(text: entry.value, source: .file(line: entry.line))
      }
    }
  }

  private mutating func readEnvironment(_ environment: [(String, String)]) {
    var seen: Set<String> = []
    for (name, value) in environment where seen.insert(name).inserted {
      if SettingTable.setting(named: name) != nil {
        stated[name] = StatedSetting(text: value, source: .environment)
      } else if NameCheck.isOurs(name) {
        refuse(name, at: .environment)
      } else if let setting = NameCheck.setting(near: name) {
        warnings.append(.similarName(name, setting: setting))
      }
    }
  }

  /// The value of an unknown name is not shown: nobody knows what it is.
  private mutating func refuse(_ name: String, at source: SettingSource) {
    let remedy: String
    if let setting = NameCheck.setting(near: name) {
      remedy = "write \(setting) if that is meant, or remove it"
    } else if source == .environment, Self.isServiceLink(name) {
      remedy = "set enableServiceLinks: false, for Kubernetes sets this name for a Service called portcullis"
    } else {
      remedy = "remove it (portcullis config lists all settings)"
    }
    nameProblems.append(
      ConfigurationProblem(
        name: quoted(name), place: place(source), reason: "is not a setting", remedy: remedy))
  }

  private static func isServiceLink(_ name: String) -> Bool {
    ["PORTCULLIS_SERVICE_HOST", "PORTCULLIS_SERVICE_PORT", "PORTCULLIS_PORT"].contains { name.hasPrefix($0) }
  }

  private mutating func readSettings() {
    for setting in SettingTable.settings {
      let stated = stated[setting.name]
      guard let text = stated?.text ?? setting.defaultText else { continue }
      do throws(SettingError) {
        guard !text.isEmpty else { throw SettingError("is empty") }
        try setting.read(text, &configuration)
      } catch {
        invalid.insert(setting.name)
        problems.append(
          ConfigurationProblem(
            name: setting.name, shownValue: shown(text, isSecret: setting.isSecret),
            place: stated.flatMap { place($0.source) }, reason: error.reason,
            remedy: error.remedy
              ?? (text.isEmpty ? "write \(setting.form), or remove it" : "write \(setting.form)")))
      }
    }
  }

  private mutating func warnOfFormerNames() {
    for setting in SettingTable.settings {
      guard let successor = setting.successor, let stated = stated[setting.name] else { continue }
      warnings.append(.formerName(setting.name, place: place(stated.source), setting: successor))
    }
  }

  private func path(_ file: File) -> String { quoted(file.path) }

  private func place(_ source: SettingSource) -> String? {
    switch source {
    case .standard: nil
    case .file(let line): file.map { "\(path($0)):\(line)" }
    case .environment: "environment"
    }
  }
}

/// The text of one setting and where it stands.
struct StatedSetting: Sendable, Equatable {
  let text: String
  let source: SettingSource
}

/// A configuration with what else there is to say about it.
package struct LoadedConfiguration: Sendable, Equatable {
  package let configuration: GateConfiguration
  package let warnings: [ConfigurationWarning]
  /// Of `--config`, for the report.
  package let filePath: String?
  /// In the order of the table.
  package let settings: [EffectiveSetting]
}
