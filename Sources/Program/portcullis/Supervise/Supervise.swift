/// `portcullis supervise`: a parent that keeps the gate's descriptors and starts it anew, where no systemd does
/// (docs/restarts.md, "Restarts and upgrades").
import ArgumentParser
import Configuration
import Confinement
import Glibc
import Prompt
import Supervision
import System

struct Supervise: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run serve below a parent that keeps connections over its restarts.",
    usage: "portcullis supervise [--descriptors <descriptors>] -- serve [--config <config>]",
    discussion: """
      For where there is no systemd, such as a container. SIGUSR2 starts the program anew, as it is on the disk then; \
      a gate that dies is started again. SIGTERM, SIGINT and SIGHUP are passed on, and the parent ends as the gate does.
      """)

  @Option(help: "How many listeners and connections to the game are kept at the most.")
  var descriptors = 4352

  @Argument(parsing: .postTerminator, help: "serve, and its options.")
  var command: [String] = []

  func validate() throws {
    guard command.first == "serve" else {
      throw ValidationError("behind -- goes what is to be supervised: portcullis supervise -- serve")
    }
    // What all names together may take as one variable of the gate's.
    guard (1...StoredName.legLimit).contains(descriptors) else {
      throw ValidationError("--descriptors has to be 1 to \(StoredName.legLimit)")
    }
  }

  func run() throws {
    if geteuid() == 0 {
      complain(
        "supervise does not run as root, which the gate could not give up for it: start it as the user of the gate, by "
          + "systemd's User=, docker's --user or setpriv --reuid")
      throw ExitStatus.configuration
    }
    let settings = Supervisor.Settings(
      program: try program(), arguments: ["portcullis"] + command, environment: ProcessContext.environment(),
      capacity: try capacity())
    throw ExitCode(try supervise(settings))
  }

  private func program() throws -> String {
    guard let path = ProcessContext.program() else {
      complain("the program's own path cannot be found: start it by its path")
      throw ExitStatus.osError
    }
    return path
  }

  /// Each has a number here, and another in the gate as it is started; some are for the supervisor's own work.
  private func capacity() throws -> Int {
    let possible = (ProcessContext.descriptorLimit() - 64) / 2
    guard possible > 0 else {
      complain("there are too few descriptors: raise ulimit -n or LimitNOFILE")
      throw ExitStatus.osError
    }
    return min(descriptors, possible)
  }

  private func supervise(_ settings: Supervisor.Settings) throws -> Int32 {
    do throws(SystemError) {
      // What it keeps is the players' connections, which its own user is not to take out of it either.
      try Credentials.hideMemory()
      var supervisor = try Supervisor.make(settings) { complain("supervise: \($0)") }
      // From here on nothing is done but waiting.
      FreeMemory.giveBack()
      return supervisor.run()
    } catch {
      complain("cannot start: \(error)")
      throw ExitStatus.osError
    }
  }
}
