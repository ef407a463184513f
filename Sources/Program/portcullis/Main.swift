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
    groupedSubcommands: [
      CommandGroup(name: "Gate", subcommands: [Serve.self, Supervise.self, ConfigCommand.self, Check.self]),
      CommandGroup(
        name: "Watching",
        subcommands: [Status.self, Stats.self, Doctor.self, AdminCommand.self]),
      CommandGroup(name: "Player", subcommands: [Sessions.self, Keys.self, Drain.self]),
      CommandGroup(
        name: "Device",
        subcommands: [
          Devices.self, Approvals.self, Services.self, Audit.self, Explain.self, Pins.self,
        ]),
      CommandGroup(
        name: "Development",
        subcommands: [
          Development.Verify.self, Development.DevCerts.self, Development.Simulate.self,
          Development.Demo.self,
        ]),
    ])

  private static let former =
    [
      FormerName("undrain", now: "drain --off"), FormerName("keys stats", now: "stats --keys"),
      FormerName("pins show", now: "pins"), FormerName("pins next", now: "pins --make-next"),
      FormerName("approvals bars list", now: "approvals list --barred"),
      FormerName("approvals bars lift", now: "approvals unbar"), FormerName("pair", now: "devices pair"),
      FormerName("policy check --assurance", now: "check --assurance --policy"),
      FormerName("policy check", now: "check --policy"), FormerName("risk check", now: "check --risk"),
      FormerName("policy explain", now: "explain approval"), FormerName("risk explain", now: "explain risk"),
    ] + DevelopmentCommand.former

  static func main() {
    let names = CommandNames(self, elsewhere: DevelopmentCommand.allCases.map(\.name), former: former)
    runCommandLine(names, first: Development.handOver)
  }
}
