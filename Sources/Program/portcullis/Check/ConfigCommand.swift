/// `portcullis config`: every setting as it holds, and where it came from (docs/settings.md, docs/operating.md,
/// "Commands").
import ArgumentParser
import Configuration

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the effective settings and where each came from.",
    discussion: """
      Reads the environment and the settings file as the server would, and prints one line a setting in a \
      form that such a file can hold. With a problem in them, prints all problems and ends with status 78. \
      Secrets are never shown.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object a line.")
  var json = false

  func run() throws {
    let loaded = try Startup.configuration(file: settings.read())
    for warning in loaded.warnings { complain("warning: \(warning)") }
    var output = Output()
    let report = json ? ConfigurationReport.json(loaded) : ConfigurationReport.text(loaded)
    for line in report.split(separator: "\n") { try output.line(String(line)) }
    try output.flush()
  }
}
