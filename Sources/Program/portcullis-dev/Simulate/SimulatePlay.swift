/// `portcullis simulate play`: the app's package, driven by another program. For tests; the help does not show it.
import ArgumentParser
import Device
import Dialing
import Identity
import PortcullisClient
import Prompt
import System

extension Simulate {
  struct Play: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Play by lines of JSON, as the app's package does it.",
      discussion: """
        Registers a key where the gate knows none. Commands come on standard input, events go to standard output.
        """,
      shouldDisplay: false)

    @OptionGroup var gate: GateOptions
    @OptionGroup var device: DeviceOptions

    @Option(help: "<team id>.<bundle id> of new keys.")
    var appID: String

    @Option(help: "The App Attest environment of new keys: production or development.")
    var environment = AttestEnvironment.development

    @Option(help: "The folder with the test authority, as `portcullis dev-certs` makes it.")
    var authority = "certs/dev"

    @Option(help: "Where the key's identifier and the session are remembered.", completion: .file())
    var session: String?

    func run() throws {
      let making = KeyMaking(appID: appID, environment: environment, authority: authority)
      do {
        let runner = try SessionRunner(
          gate.sessionGate(by: .appKey(path: device.state)), options: GameOptions(inputPatience: nil),
          client: ClientDescription(name: "Portcullis", version: Version.text), remembering: session,
          making: making)
        let end = try ScriptedSession(runner, input: .duplicate(0), output: .duplicate(1)).run()
        if let code = SimulateFailure.report(.ended(end), after: runner.failure) { throw code }
      } catch let error as GateClientError {
        throw SimulateFailure.report(error)
      } catch let error as SystemError {
        complain(error.description)
        throw ExitStatus.osError
      }
    }
  }
}
