/// `portcullis config`: every setting as it holds, and where it came from (docs/settings.md, docs/running.md,
/// "Commands").
import ArgumentParser
import Assembly
import Configuration
import Prompt

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the effective settings and where each came from.",
    discussion: """
      Reads the environment and the settings file as the server would, and prints one line a setting in a \
      form that such a file can hold. A setting with a problem is a comment that says what is wrong; then the \
      command ends with status 78. Secrets are never shown.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object a line.")
  var json = false

  func run() throws {
    switch Startup.load(try Startup.file(settings.read())) {
    case .success(let loaded):
      for warning in loaded.warnings { complain("warning: \(warning)") }
      try show(json ? ConfigurationReport.json(loaded) : ConfigurationReport.text(loaded))
    case .failure(let failure):
      for warning in failure.warnings { complain("warning: \(warning)") }
      try show(json ? ConfigurationReport.json(failure) : ConfigurationReport.text(failure))
      let count = failure.problems.count
      complain(
        "\(count) \(count == 1 ? "problem" : "problems") in the settings, shown as \(json ? "problems" : "comments"): "
          + "correct what they name; until then nothing starts")
      throw ExitStatus.configuration
    }
  }

  private func show(_ report: String) throws {
    var output = Output()
    for line in report.split(separator: "\n") { try output.line(String(line)) }
    try output.flush()
  }
}
