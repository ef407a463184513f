/// The command line's root of what Portcullis is tried out with: a device in software and its authorities, a whole story, and a
/// judge of recorded cases (docs/running.md, "Development").
import ArgumentParser
import Commands
import Prompt

/// Its commands are those of `portcullis`, which goes on as this program, and name themselves so.
@main
struct Development: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "portcullis",
    abstract: "What a gate is tried out with: a simulated device, test authorities, and recorded cases.",
    discussion: "The program portcullis-dev. Its commands are called by `portcullis`.",
    version: Version.text,
    subcommands: [Verify.self, DevCerts.self, Simulate.self, Demo.self])

  static func main() {
    runCommandLine(CommandNames(self, former: DevelopmentCommand.former)) { words in
      guard words.first == DevelopmentCommand.completionWord, words.count == 2,
        let shell = CompletionShell(rawValue: words[1])
      else { return }
      say(try WholeCompletion.script(for: shell))
      throw ExitCode.success
    }
  }
}
