/// The command line's root: names the subcommands (docs/operating.md, "Commands").
import ArgumentParser
import Configuration
import Glibc
import Prompt
import System

@main
struct Portcullis: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "portcullis",
    abstract: "A gate in front of a game server that lets in only the genuine iOS or Android app.",
    version: Version.text,
    subcommands: [
      Serve.self, Supervise.self, Check.self, Doctor.self, ConfigCommand.self, Keys.self, Sessions.self,
      Drain.self,
      Undrain.self,
      AdminCommand.self,
      Devices.self,
      Services.self,
      Approvals.self, Audit.self, Stats.self, PolicyCommand.self,
      RiskCommand.self, Pins.self,
      Verify.self,
      DevCerts.self,
      Pair.self, Simulate.self, Demo.self,
    ])

  /// Swift reads the command line from /proc, and without it sees none: `serve` would print an overview and end well.
  static func main() {
    let arguments = ProcessContext.arguments()
    guard !arguments.isEmpty else {
      complain("the command line cannot be read")
      Glibc.exit(ExitStatus.osError.rawValue)
    }
    StraySignals.ignoreFileLimit()
    let words = Array(arguments.dropFirst())
    do {
      var command = try parseAsRoot(CommandNames.resolved(words))
      try command.run()
    } catch let status as ExitStatus {
      // Why has been told.
      Glibc.exit(status.rawValue)
    } catch {
      // What the parser makes of a command that it does not know is a complaint about the next word.
      if exitCode(for: error) == .validationFailure, let advice = CommandNames.advice(words) {
        complain(advice)
        Glibc.exit(ExitStatus.usage.rawValue)
      }
      exit(withError: error)
    }
  }
}
