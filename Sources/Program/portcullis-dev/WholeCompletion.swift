/// The script by which a shell completes the commands of both programs: that of the gate's program, in which the commands
/// of this one are names and nothing else, with what this one's script has of them in their place. Both are as the pinned
/// version of swift-argument-parser writes them.
import ArgumentParser
import Commands
import Prompt
import System

struct WholeCompletion {
  private let shell: CompletionShell

  /// With the gate's script on standard input.
  static func script(for shell: CompletionShell) throws -> String {
    WholeCompletion(shell: shell).merged(
      gate: String(decoding: try standardInput(), as: UTF8.self),
      own: Development.completionScript(for: shell))
  }

  /// Lines that come one after the other, and the command of this program that they are of, if they are.
  private struct Run {
    let command: DevelopmentCommand?
    var lines: [Substring]
  }

  private func merged(gate: String, own: String) -> String {
    let ownRuns = runs(of: own)
    var met: [DevelopmentCommand: Int] = [:]
    var lines: [Substring] = []
    for run in runs(of: gate) {
      guard let command = run.command else {
        lines += run.lines
        continue
      }
      let place = met[command, default: 0]
      met[command] = place + 1
      let same = ownRuns.filter { $0.command == command }
      lines += place < same.count ? same[place].lines : run.lines
    }
    return lines.joined(separator: "\n")
  }

  private func runs(of script: String) -> [Run] {
    var runs: [Run] = []
    var command: DevelopmentCommand?
    for line in script.split(separator: "\n", omittingEmptySubsequences: false) {
      command =
        shell == .fish ? fishCommand(of: line, after: command) : functionCommand(of: line, after: command)
      if let last = runs.last, last.command == command {
        runs[runs.count - 1].lines.append(line)
      } else {
        runs.append(Run(command: command, lines: [line]))
      }
    }
    return runs
  }

  /// bash and zsh: each command has a function at the margin, as `_portcullis_simulate_phone() {`.
  private func functionCommand(of line: Substring, after command: DevelopmentCommand?) -> DevelopmentCommand?
  {
    // Also what follows the function up to the next thing that begins at the margin.
    if line.isEmpty || line.first == " " || line == "}" { return command }
    return DevelopmentCommand.allCases.first { command in
      let name = "_portcullis_\(command.rawValue)"
      return line == "\(name)() {" || line.hasPrefix("\(name)_") && line.hasSuffix("() {")
    }
  }

  /// fish: a case of the outermost commands, with what is indented below it; and a line for each word to be completed.
  private func fishCommand(of line: Substring, after command: DevelopmentCommand?) -> DevelopmentCommand? {
    let isDeeper = line.hasPrefix(Self.fishIndent + " ")
    if isDeeper { return command }
    return DevelopmentCommand.allCases.first { command in
      line == "\(Self.fishIndent)case '\(command.rawValue)'"
        || line.hasPrefix("complete ")
          && (line.contains("\"portcullis \(command.rawValue)\"")
            || line.contains("\"portcullis \(command.rawValue) "))
    }
  }

  private static let fishIndent = "        "

  private static func standardInput() throws -> [UInt8] {
    do {
      let input = try OwnedDescriptor.duplicate(0)
      var (script, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 1 << 16))
      while true {
        let count = try input.read(into: &buffer)
        if count == 0 { return script }
        script += buffer[..<count]
      }
    } catch {
      complain("standard input cannot be read: \(error)")
      throw ExitStatus.ioError
    }
  }
}
