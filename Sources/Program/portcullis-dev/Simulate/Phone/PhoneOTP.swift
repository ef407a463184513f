/// `portcullis simulate phone otp`: waits for a login, signs for it, and shows the code (docs/codes.md, "One-time codes").
import ArgumentParser
import Bytes
import Device
import DeviceWire
import Dialing
import JSON
import PortcullisDevice
import PortcullisProtocol
import Prompt
import System

extension Simulate.Phone {
  struct OTP: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "otp", abstract: "Wait for a login that wants a one-time code, and show it.",
      discussion: """
        The newest login that is open, or the next one that comes. The six digits stand alone on standard output; which \
        service asks, and its words, on standard error. A phone whose attestation is too old attests where --app or --play say by what, and is refused else.
        """)

    @ParentCommand var phone: Simulate.Phone
    @OptionGroup var voucher: PhoneVoucherOptions

    @Option(help: ArgumentHelp("Only this login.", valueName: "id"))
    var challenge: String?

    @Option(help: "What the phone says of itself: a JSON object, which is signed as it is.")
    var signals = "{}"

    @Flag(help: "One JSON object instead of the digits.")
    var json = false

    func validate() throws {
      guard challenge == nil || wanted != nil else {
        throw ValidationError("--challenge takes a UUID in lower case.")
      }
      guard said != nil else {
        throw ValidationError("--signals takes a JSON object; its known members have one form each.")
      }
    }

    private var wanted: CodeChallengeID? { challenge.flatMap { CodeChallengeID($0) } }
    /// The gate's own reading is stricter than a phone's: what it would refuse is refused here.
    private var said: PhoneSignals? {
      let bytes = Array(signals.utf8)
      return Signals(bytes) == nil ? nil : PhoneSignals(bytes)
    }

    func run() throws {
      guard let said else { return }
      let evidence = try reporting { () throws(GateClientError) -> PhoneVoucher? in try voucher.load() }
      let wanted = wanted
      let (login, code) = try phone.withPhone(vouchedBy: evidence) { session async throws(DeviceFailure) in
        let login = try await session.login { wanted == nil || $0.id == wanted }
        complain("\(PrintableText.field(login.service)): \(PrintableText.field(login.text))")
        return (login, try await session.code(for: login, signals: said))
      }
      show(code, of: login)
    }

    private func show(_ code: OneTimeCode, of login: Login) {
      guard json else { return say(code.text) }
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("challenge_id")
      writer.value(login.id.text)
      writer.name("service")
      writer.value(login.service)
      writer.name("text")
      writer.value(login.text)
      writer.name("otp_code")
      writer.value(code.text)
      writer.name("expires_at")
      writer.value(code.expiresAt.value)
      writer.endObject()
      say(writer.string)
    }
  }
}
