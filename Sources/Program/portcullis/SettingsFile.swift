/// Which settings file a command reads: that of --config, else the one in its usual place (docs/running.md, "Commands").
import ArgumentParser
import Assembly
import Configuration
import Prompt
import System

/// The option that every command has which needs settings.
struct SettingsFile: ParsableArguments {
  @Option(
    name: [.customShort("c"), .long],
    help: """
      A file of NAME=value lines; the environment wins over it. Without it: config/portcullis.env of this folder, else \
      /etc/portcullis/portcullis.env.
      """,
    completion: .file())
  var config: String?

  /// Enough for commands on the store and the control socket, which need neither certificates nor app ids.
  func values() throws -> GateConfiguration {
    try Startup.configuration(file: read(), scope: .values).configuration
  }

  /// The file that is to be read; nil for the environment alone. One that was not named is said, as it decides which gate
  /// is meant.
  func read() throws -> String? {
    guard config == nil, let file = SettingsPlaces.system.file else { return config }
    try Self.requireTrusted(file)
    complain("settings file: \(file)")
    return file
  }

  /// The same without a word.
  var path: String? { config ?? SettingsPlaces.system.file }

  /// Whoever may write to the file says which sockets and files a command uses, perhaps as root: in a folder of others it
  /// has to be named.
  private static func requireTrusted(_ file: String) throws {
    if let status = try? FileStatus.of(file), status.user != 0, status.user != Account.effectiveUser {
      complain(
        "\(file) belongs to \(Account.of(user: status.user)), and no settings file was named: if it is meant, write "
          + "--config \(file)")
      throw ExitStatus.configuration
    }
    guard SystemFiles().isReadable(file) else {
      complain(
        "\(file) cannot be read, and no settings file was named: \(AccessRemedy.text(for: file)), or name another file by "
          + "--config FILE")
      throw ExitStatus.configuration
    }
  }
}

/// Where a settings file is looked for that nobody has named.
struct SettingsPlaces {
  static let folder = "config/portcullis.env"
  static let installed = "/etc/portcullis/portcullis.env"
  /// What says where a gate is.
  private static let whereabouts = ["CONTROL_SOCKET", "ATTESTED_KEYS_PATH"]

  static var system: SettingsPlaces {
    SettingsPlaces(environment: Set(ProcessContext.environment().map(\.0)), kind: SystemFiles().kind(of:))
  }

  let environment: Set<String>
  let kind: (String) -> FileKind?

  /// The one of the folder's gate, else that of the installed one; nil where there is none, or another gate is meant.
  var file: String? {
    if kind(Self.folder) == .file { return Self.folder }
    if !environment.isDisjoint(with: Self.whereabouts) { return nil }
    // A gate whose settings are all in its environment works here.
    let defaults = Self.whereabouts.compactMap { SettingTable.setting(named: $0)?.defaultText }
    if defaults.contains(where: { kind($0) != nil }) { return nil }
    return kind(Self.installed) == .file ? Self.installed : nil
  }
}
