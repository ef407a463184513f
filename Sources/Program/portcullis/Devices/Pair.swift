/// `portcullis devices pair`: draws a QR code for a phone, and lets it in by the six digits that it shows (docs/devices.md).
public import ArgumentParser
import Commands
import Configuration
import Control
import DeviceWire
import Glibc
import JSON
import Prompt
import Registry
internal import System
import Time

struct Pair: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Pair a phone: show a QR code, and type the six digits that the phone shows.",
    discussion: """
      The code is good for one phone and five minutes. A photograph of it is enough to answer in your phone's place: \
      look at the name that is shown, and type the digits from the phone in your hand. Three wrong ones end the pairing, \
      and so does Control-C. A phone of another platform than the one that is named ends it too. Where output is no \
      terminal, or its window is too small, the code's text is written instead.
      Asks the running gate over CONTROL_SOCKET. Exit status: 0 paired, 1 not.
      """)

  @OptionGroup var settings: SettingsFile

  @Argument(help: "Which kind of phone is to be paired; any, when left out.")
  var platform: DevicePlatform?

  @Option(help: "Whom the phone belongs to, as services name the person.")
  var subject: String?

  @Option(
    help: "What the phone is to be called, in the place of its own name, which is shown until it is paired.")
  var name: String?

  func run() throws {
    let configuration = try settings.values()
    let input: PromptInput
    do {
      // Before anything is begun, so that Control-C ends it in good order.
      input = try PromptInput(.duplicate(0))
    } catch {
      complain(error.description)
      throw ExitStatus.osError
    }
    let pairing = try open(configuration)
    var view = PairingView()
    view.show(pairing.uri)
    let end: PairingStatus
    do {
      end = try attend(pairing, input, &view)
    } catch {
      burn(pairing)
      throw error
    }
    view.end(end)
    guard end.stage == .active else { throw ExitCode(1) }
  }

  // MARK: The course of a pairing

  private struct Opened {
    let id: String
    let uri: String
    let expiresAt: Int64
    let configuration: GateConfiguration
  }

  private func open(_ configuration: GateConfiguration) throws -> Opened {
    let answer = try order(.pairOpen, ["subject": subject, "name": name], configuration)
    guard case .registry(.object(let object)) = answer, let id = object["pairing_id"]?.string,
      let uri = object["uri"]?.string, PairingURI(uri) != nil, let expiresAt = object["expires_at"]?.integer
    else { throw ControlAccess.unexpected(answer) }
    return Opened(id: id, uri: uri, expiresAt: expiresAt, configuration: configuration)
  }

  /// Until the gate says how it has ended.
  private func attend(
    _ pairing: Opened, _ input: PromptInput, _ view: inout PairingView
  ) throws -> PairingStatus {
    // Typed as soon as the phone has shown them, which is before the gate knows that they are to be compared.
    var typed: PairingDigits?
    while true {
      let status = try status(of: pairing)
      try requirePlatform(of: status, &view)
      switch status.stage {
      case .active, .refused: return status
      case .open:
        if typed.take() != nil { view.tell("no phone has answered yet") }
      case .phone: break
      case .revealed:
        if let digits = typed.take() {
          try confirm(digits, pairing, &view)
          continue
        }
      }
      view.show(status, secondsLeft: pairing.expiresAt - SystemClock().wall().seconds)
      switch try input.next(within: Self.interval) {
      case .quiet: break
      case .line(let line):
        view.beginAnew()
        let line = line.filter { $0 != " " }
        typed = PairingDigits(typed: line)
        if typed == nil, !line.isEmpty { view.tell("six digits, as the phone shows them") }
      // As a shell says it of a program that a signal has ended.
      case .signal(let number): throw ExitCode(128 + number)
      case .end:
        view.tell("the input has ended, and with it the pairing: nobody can type the digits")
        throw ExitCode(1)
      }
    }
  }

  /// Another kind of phone than the one in the operator's hand is somebody else's.
  private func requirePlatform(of status: PairingStatus, _ view: inout PairingView) throws {
    guard let platform, let found = status.platform, found != platform, status.stage != .refused else {
      return
    }
    view.tell(
      "\(status.shownName) is of the platform \(found.rawValue), and pair \(platform.rawValue) was asked for: the pairing "
        + "is over")
    throw ExitCode(1)
  }

  private static let interval: Duration = .milliseconds(500)

  private func confirm(
    _ digits: PairingDigits, _ pairing: Opened, _ view: inout PairingView
  ) throws {
    let answer = try order(
      .pairConfirm, ["pairing_id": pairing.id, "sas": digits.text], pairing.configuration)
    // How it stands then, the next look says.
    if case .refused(let refusal) = answer { view.tell(refusal.message) }
  }

  private func status(of pairing: Opened) throws -> PairingStatus {
    let answer = try order(.pairStatus, ["pairing_id": pairing.id], pairing.configuration)
    if case .refused(let refusal) = answer, refusal.code == .unknownObject { return .gone }
    guard case .registry(let value) = answer, let status = PairingStatus(value) else {
      throw ControlAccess.unexpected(answer)
    }
    return status
  }

  /// Nobody is to answer a code that nobody looks at any more; it ends by itself where the gate cannot be told.
  private func burn(_ pairing: Opened) {
    _ = try? order(.pairBurn, ["pairing_id": pairing.id], pairing.configuration)
  }

  private func order(
    _ verb: OperatorVerb, _ arguments: KeyValuePairs<String, String?>, _ configuration: GateConfiguration
  ) throws -> ControlAnswer {
    let members = arguments.compactMap { name, value in
      value.map { (name: name, value: JSONValue.string($0)) }
    }
    return try ControlAccess.ask(.registry(RegistryOrder(verb, members)), configuration)
  }
}

extension DevicePlatform: ExpressibleByArgument {}
