/// The verbs by which a software phone comes to belong to a gate and changes its keys (docs/devices.md).
import ArgumentParser
import Device
import DeviceWire
import Dialing
import Prompt
import System

extension Simulate.Phone {
  struct Pair: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pair", abstract: "Pair a new phone by what a QR code says.",
      discussion: """
        Writes six digits to standard output, which the operator types where the code is shown, and waits for that. A \
        state file of a phone that belongs to a gate already is left alone.
        """)

    @ParentCommand var phone: Simulate.Phone
    @OptionGroup var voucher: PhoneVoucherOptions

    @Option(help: "What the phone calls itself.")
    var name = "Software phone"

    @Option(help: "What the phone is: ios or android; as what vouches for it, and else ios.")
    var platform: DevicePlatform?

    @Flag(help: "Make no approval key: the phone has no vote.")
    var withoutApprovalKey = false

    @Argument(help: "PORTCULLIS:/1/…, as the QR code says.")
    var uri: String

    func run() throws {
      guard let uri = PairingURI(uri) else {
        throw ValidationError("this is not what a pairing's QR code says: PORTCULLIS:/1/… in upper case.")
      }
      guard let name = DeviceName(name) else {
        throw ValidationError("--name takes 1 to 128 bytes without control characters.")
      }
      let platform = try voucher.platform(platform)
      let end: PairingEnd?
      do throws(GateClientError) {
        let phone = try SoftwarePhone.create(
          at: self.phone.state, for: GateURL(host: uri.host.lowercased(), port: uri.port),
          trust: .publicKeys([uri.serverKeyHash]), platform: platform, name: name,
          withApproval: !withoutApprovalKey, timeout: .seconds(self.phone.timeout))
        end = try phone.pair(uri, name: name, by: voucher.load()) { digits in say(digits.text) }
        if end == nil { complain("paired as \(phone.state.device?.text ?? "")") }
      } catch {
        throw SimulateFailure.report(error)
      }
      switch end {
      case nil: return
      case .rejected:
        complain("the gate does not take this code: it was used, refused, or is older than five minutes")
      case .refused: complain("the operator has not taken this phone")
      }
      throw ExitStatus.noPermission
    }
  }
}

extension Simulate.Phone {
  struct Enroll: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enroll", abstract: "Enrol a phone without a QR code; an operator has to confirm it.",
      discussion:
        "A phone that is in the state file is enrolled again under its keys, which gives it the same id.")

    @ParentCommand var phone: Simulate.Phone
    @OptionGroup var voucher: PhoneVoucherOptions

    @Option(help: "Where the gate is, for a new phone: https://host[:port].")
    var url = GateURL(host: "localhost", port: 8443)

    @Option(help: "What a new phone calls itself.")
    var name = "Software phone"

    @Option(help: "What a new phone is: ios or android; as what vouches for it, and else ios.")
    var platform: DevicePlatform?

    @Flag(help: "Make no approval key for a new phone: it has no vote.")
    var withoutApprovalKey = false

    func run() throws {
      guard let name = DeviceName(name) else {
        throw ValidationError("--name takes 1 to 128 bytes without control characters.")
      }
      let trust = try phone.trust
      let platform = try voucher.platform(platform)
      do throws(GateClientError) {
        let timeout = Duration.seconds(self.phone.timeout)
        let phone =
          WholeFile.exists(self.phone.state)
          ? try SoftwarePhone.load(from: self.phone.state, trust: trust, timeout: timeout)
          : try SoftwarePhone.create(
            at: self.phone.state, for: url, trust: trust, platform: platform, name: name,
            withApproval: !withoutApprovalKey, timeout: timeout)
        let standing = try phone.enroll(by: voucher.load())
        say("enrolled \(phone.state.device?.text ?? ""): \(standing.line)")
      } catch {
        throw SimulateFailure.report(error)
      }
    }
  }
}

extension Simulate.Phone {
  struct Attest: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "attest", abstract: "Show the gate that the app is genuine.")

    @ParentCommand var phone: Simulate.Phone
    @OptionGroup var voucher: PhoneVoucherOptions

    func validate() throws {
      guard voucher.app != nil || voucher.android.play != nil else {
        throw ValidationError(
          "--app is needed, or --android-app with --play: it is the app that shows itself.")
      }
    }

    func run() throws {
      let standing = try phone.withPhone { phone throws(GateClientError) in
        try voucher.load().map { voucher throws(GateClientError) in try phone.attest(by: voucher) }
      }
      if let standing { say("attested: \(standing.line)") }
    }
  }
}

extension Simulate.Phone {
  struct Rotate: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate", abstract: "Change both keys of the phone.",
      discussion: "When the answer was lost, run it again: the phone finds out which keys the gate knows.")

    @ParentCommand var phone: Simulate.Phone
    @OptionGroup var voucher: PhoneVoucherOptions

    func run() throws {
      let standing = try phone.withPhone { phone throws(GateClientError) in
        try phone.rotate(by: voucher.load())
      }
      say("rotated\(standing.map { ": \($0.line)" } ?? ", as the gate had it already")")
    }
  }
}
