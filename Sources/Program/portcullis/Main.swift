/// The command line's root: names the subcommands (docs/running.md, "Commands").
import ArgumentParser
import Commands
import Prompt

@main
struct Portcullis: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "portcullis",
    abstract: "A gate in front of a game server that lets in only the genuine iOS or Android app.",
    version: Version.text,
    subcommands: [
      Serve.self, Supervise.self, Status.self, Check.self, Doctor.self, ConfigCommand.self, Keys.self,
      Sessions.self,
      Drain.self,
      Undrain.self,
      AdminCommand.self,
      Devices.self,
      Services.self,
      Approvals.self, Audit.self, Stats.self, PolicyCommand.self,
      RiskCommand.self, Pins.self,
      Development.Verify.self,
      Development.DevCerts.self,
      Pair.self,
      Development.Simulate.self,
      Development.Demo.self,
    ])

  static func main() {
    let names = CommandNames(self, elsewhere: DevelopmentCommand.allCases.map(\.name))
    runCommandLine(names, first: Development.handOver)
  }
}
