/// `portcullis simulate phone otp`: waits for a login, signs for it, and shows the code (docs/codes.md, "One-time codes").
import ArgumentParser
import Bytes
import Device
import DeviceWire
import Dialing
import JSON
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
    private var said: Signals? { Signals(Array(signals.utf8)) }

    func run() throws {
      guard let said else { return }
      try phone.withPhone { phone throws(GateClientError) in
        var open = try phone.logins()
        var login = pick(open)
        while login == nil {
          open = try phone.logins(after: open.cursor)
          login = pick(open)
        }
        guard let login else { return }
        complain("\(PrintableText.field(login.service)): \(PrintableText.field(login.text))")
        show(try phone.code(for: login, signals: said, by: voucher.load()), of: login)
      }
    }

    private func pick(_ open: OpenLogins) -> OpenLogin? {
      open.items.last { challenge == nil || $0.id == wanted }
    }

    private func show(_ code: PhoneCode, of login: OpenLogin) {
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
