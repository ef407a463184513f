/// `portcullis simulate desktop`: a desktop that asks whether a phone is near (docs/codes.md, "Presence").
import ArgumentParser
import Commands
import Device
import Dialing
import PortcullisDevice
import PortcullisProtocol
import Prompt
internal import System
import Time

extension Simulate {
  struct Desktop: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Play a desktop: ask a phone whether it is near, and tell the gate.",
      discussion: """
        Writes the gate's challenge to standard output, a line of JSON, and reads what the phone has answered from standard \
        input: Bluetooth is what lies between them in life, a pipe here. The other end is simulate phone presence.

        Exit status: 0 near, 1 nobody has answered in time, 64 wrong usage, 65 unusable data, 69 gate unavailable, 77 \
        refused by the gate.
        """)

    @Option(help: "Where the gate is: https://host[:port].")
    var url = GateURL(host: "localhost", port: 8443)

    @Option(
      help: "Trust the authorities in this PEM file instead of the system's.", completion: .file())
    var ca: String?

    @Option(help: "Trust the certificate with this SHA-256 fingerprint, and no other.")
    var pin: String?

    @Option(
      help: "The file with the token of a service that has the scope presence.", completion: .file())
    var token: String

    @Option(help: "The phone's id.")
    var device: String

    @Option(help: "How strong the phone's signal is, in dBm from -127 to 20.")
    var rssi: Int?

    @Option(help: "How many seconds connecting, or one answer of the gate, may take.")
    var timeout = 10

    func validate() throws {
      _ = try GateOptions.trust(ca: ca, pin: pin)
      guard GateOptions.timeouts.contains(timeout) else {
        throw ValidationError("--timeout takes 1 to 3600 seconds.")
      }
      guard DeviceID(device) != nil else { throw ValidationError("--device takes a UUID in lower case.") }
      guard rssi.map((-127...20).contains) ?? true else {
        throw ValidationError("--rssi takes -127 to 20.")
      }
    }

    func run() throws {
      guard let device = DeviceID(device) else { return }
      let trust = try GateOptions.trust(ca: ca, pin: pin)
      let input = try PresenceInput.open()
      let (desktop, question) = try reporting { () throws(GateClientError) in
        let client = try GateClient(url, trust: trust, timeout: .seconds(timeout))
        let desktop = SoftwareDesktop(client, token: try token(in: token))
        return (desktop, try desktop.question(about: device))
      }
      say(question.line)
      guard let answer = try hear(question, device, input) else {
        complain("no phone has answered in time")
        throw ExitCode(1)
      }
      let until = try reporting { () throws(GateClientError) in
        try desktop.prove(answer, strength: rssi.map(Int64.init))
      }
      complain("near, for the next \(max(0, until - SystemClock().wall().seconds)) s")
    }

    /// As long as the gate would take it.
    private static let patience: Duration = .seconds(10)

    private func hear(
      _ question: PresenceQuestion, _ device: DeviceID, _ input: PromptInput
    ) throws -> PresenceAnswer? {
      let end = SystemClock().monotonic() + Self.patience
      while case let left = end - SystemClock().monotonic(), left > .zero,
        let line = try PresenceInput.line(of: input, within: left)
      {
        guard let answer = PresenceAnswer(line: line), answer.nonce == question.nonce, answer.device == device
        else {
          complain("this is not the phone's answer to what it was asked")
          continue
        }
        return answer
      }
      return nil
    }

    private func token(in path: String) throws(GateClientError) -> String {
      do throws(DeviceError) { return try SoftwareDesktop.token(in: path) } catch { throw .device(error) }
    }
  }
}

/// Lines that come from the other end.
enum PresenceInput {
  /// To be made before anything is begun, so that Control-C ends it in good order.
  static func open() throws -> PromptInput {
    do { return try PromptInput(.duplicate(0)) } catch {
      complain(error.description)
      throw ExitStatus.osError
    }
  }

  /// Nil at the end, and where none comes in that time.
  static func line(of input: PromptInput, within time: Duration) throws -> String? {
    let next: PromptInput.Event
    do { next = try input.next(within: time) } catch {
      // Nobody's silence: that would be status 1.
      complain(error.description)
      throw ExitStatus.osError
    }
    switch next {
    case .line(let line): return line
    case .end, .quiet: return nil
    // As a shell says it of a program that a signal has ended.
    case .signal(let number): throw ExitCode(128 + number)
    }
  }
}
