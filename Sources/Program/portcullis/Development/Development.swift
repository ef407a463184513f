/// The commands that the program portcullis-dev has: this one goes on as that (docs/running.md, "Development").
import ArgumentParser
import Commands
import Glibc
import Prompt
import System

enum Development {
  // For the list of commands alone: of their command lines one is parsed here, that of a command which a gate needs.

  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: DevelopmentCommand.verify.abstract, subcommands: [VerifyRevocationList.self])
  }

  struct DevCerts: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "dev-certs", abstract: DevelopmentCommand.devCerts.abstract)
  }

  struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: DevelopmentCommand.simulate.abstract)
  }

  struct Demo: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: DevelopmentCommand.demo.abstract)
  }

  /// Returns where the command line names none of these, or asks for help on none.
  static func handOver(_ words: [String]) throws {
    if let shell = completedShell(words) { return try complete(shell) }
    let asked = words.first == "help" ? words.dropFirst() : words[...]
    guard let name = asked.first.flatMap(DevelopmentCommand.init(rawValue:)) else { return }
    if name == .verify, asked.dropFirst().first == VerifyRevocationList._commandName { return }
    let program = try program()
    let failure = ProgramFile.goOn(as: program, arguments: [program] + words)
    guard failure.number == ENOENT else {
      complain("\(program) cannot be executed: \(failure)")
      throw ExitStatus.osError
    }
    complain(
      "\(program) is not there, which has the command \(name.rawValue): install Debian's package "
        + "\(DevelopmentCommand.program), or build it by make release")
    throw ExitStatus.unavailable
  }

  /// Beside this one, and nowhere else: what is in PATH may be another version, or somebody else's.
  private static func program() throws -> String {
    do {
      let own = try ProgramFile.own()
      return String(own[...(own.lastIndex(of: "/") ?? own.startIndex)]) + DevelopmentCommand.program
    } catch {
      complain("this program's own file cannot be found: \(error)")
      throw ExitStatus.osError
    }
  }

  // MARK: Completion

  /// For which shell a script is asked for; nil where none is.
  private static func completedShell(_ words: [String]) -> CompletionShell? {
    let option = "--generate-completion-script"
    switch (words.first, words.count) {
    case (option, 1): return .autodetected()
    case (option, 2): return CompletionShell(rawValue: words[1])
    case (let word?, 1) where word.hasPrefix(option + "="):
      return CompletionShell(rawValue: String(word.dropFirst(option.count + 1)))
    default: return nil
    }
  }

  /// The other program puts its commands into the script. Where it is not there, the script knows their names alone.
  private static func complete(_ shell: CompletionShell) throws {
    let script = Portcullis.completionScript(for: shell)
    let program = try program()
    if WholeFile.exists(program) {
      let failure: SystemError
      do {
        let file = try SharedMemory.file(name: "completion")
        try file.writeAll(Array(script.utf8))
        failure = ProgramFile.goOn(
          as: program, arguments: [program, DevelopmentCommand.completionWord, shell.rawValue], reading: file)
      } catch {
        failure = error
      }
      complain("\(program) cannot be executed: \(failure)")
      throw ExitStatus.osError
    }
    say(script)
    throw ExitCode.success
  }
}
