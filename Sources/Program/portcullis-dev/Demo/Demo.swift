/// `portcullis demo`: the whole of it on the loopback in one process (docs/running.md, "Commands").
import ArgumentParser
import Commands
import Demo
import Glibc
import Prompt
import System

struct Demo: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the gate at work: a game, the gate and a simulated device, honest and then cheating.",
    discussion: "Everything runs on the loopback in this one process, and leaves nothing behind. "
      + "Exits with 0 only if every step did as it should.")

  @Flag(help: "Show the gate's log lines between the steps.")
  var log = false

  @Flag(help: "Leave the operator's console open in the end, until Enter.")
  var console = false

  func run() throws {
    // A reader of the story that goes away is noticed by the write, not by a signal.
    _ = signal(SIGPIPE, SIG_IGN)
    // Before any thread, which would not know of signals that come as input.
    let visit = console ? DemoConsole(try PromptInput(.duplicate(0))) : nil
    let folder = try TemporaryFolder(prefix: "portcullis-demo-")
    let showsLog = log
    let succeeded = Result {
      try Demonstration(
        in: folder.path, tell: { say($0) },
        gateLog: { line in if showsLog { say("    | " + String(decoding: line.dropLast(), as: UTF8.self)) } },
        visit: visit
      ).run()
    }
    folder.remove()
    if try !succeeded.get() { throw ExitStatus.software }
  }
}
