/// How a program goes from its command line to one of its commands, and ends.
package import ArgumentParser
import Configuration
import Glibc
import Prompt
import System

extension ParsableCommand {
  /// Swift reads the command line from /proc, and without it sees none: `serve` would print an overview and end well.
  /// - Parameter first: what is done with the words of the command line, in the program's own names, before they are parsed.
  package static func runCommandLine(
    _ names: CommandNames, first: (_ words: [String]) throws -> Void = { _ in }
  ) {
    let arguments = ProcessContext.arguments()
    guard !arguments.isEmpty else {
      complain("the command line cannot be read")
      Glibc.exit(ExitStatus.osError.rawValue)
    }
    StraySignals.ignoreFileLimit()
    let (words, former) = names.renamed(Array(arguments.dropFirst()))
    if let former { complain("\(former.name) is now: portcullis \(former.shown)") }
    let resolved = names.resolved(words)
    do {
      try first(resolved)
      var command = try parseAsRoot(resolved)
      try command.run()
    } catch let status as ExitStatus {
      // Why has been told.
      Glibc.exit(status.rawValue)
    } catch {
      // What the parser makes of a command that it does not know is a complaint about the next word.
      if exitCode(for: error) == .validationFailure, let advice = names.advice(words) {
        complain(advice)
        Glibc.exit(ExitStatus.usage.rawValue)
      }
      exit(withError: error)
    }
  }
}
