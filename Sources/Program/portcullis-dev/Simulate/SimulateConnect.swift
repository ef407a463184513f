/// `portcullis simulate connect`: a terminal, or a script, in the game (docs/running.md, "Commands").
import ArgumentParser
import Device
import Dialing
import Glibc
import PortcullisClient
import PortcullisProtocol
import Prompt
import System

extension Simulate {
  struct Connect: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Connect to the game through the gate.",
      discussion: """
        Plays a session of portcullis.v1: when the connection is lost it comes back by itself, and nothing is \
        missing. In a terminal what is typed stays apart from what the game says, passwords are hidden, and the \
        game learns the window's size. From a pipe each line goes to the game as one message.
        At the end of the input the session ends, and what the game still had to say is lost: --wait stays until \
        the game closes.
        With --raw bytes go both ways as they are, and the end of the connection is the end.
        """)

    @OptionGroup var gate: GateOptions
    @OptionGroup var device: DeviceOptions

    @Flag(help: "Pass bytes as they are: telnet is up to you.")
    var raw = false

    @Option(
      name: .customLong("subprotocol"), help: "With --raw: a WebSocket subprotocol to offer; may be repeated."
    )
    var subprotocols: [String] = []

    @Flag(help: "At the end of the input, stay until the game closes.")
    var wait = false

    @Option(
      help: "Remember the session in this file, and come back to it when started again.", completion: .file())
    var session: String?

    @Flag(help: "Send no assertion: for the mTLS fallback, with --client-cert.")
    var withoutAssertion = false

    @Option(
      help:
        "Come in by the device key of the phone in this file (simulate phone), to the gate that it knows.",
      completion: .file())
    var phone: String?

    func validate() throws {
      guard phone == nil || !withoutAssertion else {
        throw ValidationError("--phone and --without-assertion exclude each other.")
      }
      guard session == nil || !raw else { throw ValidationError("--raw has no session to remember.") }
      guard subprotocols.isEmpty || raw else { throw ValidationError("--subprotocol belongs to --raw.") }
    }

    private var credential: Credential {
      if let phone { return .phone(path: phone) }
      return withoutAssertion ? .none : .appKey(path: device.state)
    }

    func run() throws {
      let way = try gate.sessionGate(by: credential)
      if raw { return try pass(TerminalBridge(input: standard(0), output: standard(1)), way) }
      let runner: SessionRunner
      let outcome: SessionTerminal.Outcome
      do {
        runner = try SessionRunner(
          way,
          options: GameOptions(
            triesFirstAgain: false, beginsAnew: isatty(0) == 1, givesUpWithSession: true,
            inputPatience: isatty(0) == 1 ? 10 : nil), client: facts, remembering: session)
        outcome = try SessionTerminal(
          runner, input: standard(0), output: standard(1), staysAtEnd: wait, notify: { complain($0) }
        ).run()
      } catch let error as GateClientError {
        throw SimulateFailure.report(error)
      } catch let error as SystemError {
        complain(error.description)
        throw ExitStatus.osError
      }
      if let code = SimulateFailure.report(outcome, after: runner.failure) { throw code }
    }

    private func standard(_ number: Int32) throws -> OwnedDescriptor {
      do {
        return try .duplicate(number)
      } catch {
        complain(error.description)
        throw ExitStatus.osError
      }
    }

    /// What the game is told of this terminal.
    private var facts: ClientDescription {
      var facts = ClientDescription(name: "Portcullis", version: Version.text)
      guard isatty(1) == 1 else { return facts }
      if let terminal = environment("TERM"), (1...40).contains(terminal.utf8.count),
        terminal.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      {
        facts.terminal = terminal.uppercased()
      }
      if let colours = environment("COLORTERM"), ["truecolor", "24bit"].contains(colours) {
        facts.features = [ClientFeature.trueColor.rawValue]
      }
      return facts
    }

    private func environment(_ name: String) -> String? {
      // Read at once, before anything could change the environment.
      unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    // MARK: Raw

    private func pass(_ bridge: borrowing TerminalBridge, _ way: SessionGate) throws {
      let socket: WebSocketClient
      do throws(GateClientError) {
        socket = try way.connect(subprotocols: subprotocols)
      } catch {
        throw SimulateFailure.report(error)
      }
      do {
        let end = try bridge.run(socket, waitsForServer: wait)
        if let status = SimulateFailure.status(of: end) { throw status }
      } catch let failure as TerminalBridge.Failure {
        switch failure {
        case .client(let error): throw SimulateFailure.report(error)
        case .stream(let error):
          complain(error.description)
          throw ExitStatus.osError
        }
      }
    }
  }
}
