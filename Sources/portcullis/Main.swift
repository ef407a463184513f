/// The command line's root: names the subcommands (SPEC §8).
import ArgumentParser

@main
struct Portcullis: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "portcullis",
    abstract: "A gate in front of a game server that lets in only the genuine iOS app.",
    version: Version.text,
    subcommands: [
      Serve.self, Check.self, ConfigCommand.self, Keys.self, Sessions.self, Stats.self, Verify.self,
      DevCerts.self,
      Simulate.self, Demo.self,
    ])
}
