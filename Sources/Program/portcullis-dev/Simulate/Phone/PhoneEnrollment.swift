/// The verbs by which a software phone comes to belong to a gate and changes its keys (docs/devices.md).
import ArgumentParser
import Device
import DeviceWire
import Dialing
import PortcullisDevice
import PortcullisProtocol
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
      let code: PairingCode
      do { code = try PairingCode(uri) } catch {
        throw ValidationError("this is not what a pairing's QR code says: PORTCULLIS:/1/… in upper case.")
      }
      guard let name = DeviceName(name) else {
        throw ValidationError("--name takes 1 to 128 bytes without control characters.")
      }
      let platform = try voucher.platform(platform)
      let withApprovalKey = !withoutApprovalKey
      let evidence = try reporting { () throws(GateClientError) -> PhoneVoucher? in try voucher.load() }
      let phone = try phone.device(vouchedBy: evidence)
      let device = try self.phone.run(phone) { session async throws(DeviceFailure) in
        try await session.pair(code, as: name, platform: platform, withApprovalKey: withApprovalKey) {
          digits in
          say(digits.text)
        }
        return try await session.device
      }
      complain("paired as \(device?.text ?? "")")
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
      let platform = try voucher.platform(platform)
      let (url, withApprovalKey) = (url, !withoutApprovalKey)
      let evidence = try reporting { () throws(GateClientError) -> PhoneVoucher? in try voucher.load() }
      let phone = try phone.device(vouchedBy: evidence)
      let (standing, device) = try self.phone.run(phone) { session async throws(DeviceFailure) in
        let standing = try await session.enroll(
          at: url.host, port: url.port, as: name, platform: platform, withApprovalKey: withApprovalKey)
        return (standing, try await session.device)
      }
      say("enrolled \(device?.text ?? ""): \(standing.line)")
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
      let evidence = try reporting { () throws(GateClientError) -> PhoneVoucher? in try voucher.load() }
      let standing = try phone.withPhone(vouchedBy: evidence) { session async throws(DeviceFailure) in
        try await session.attest()
      }
      say("attested: \(standing.line)")
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
      let evidence = try reporting { () throws(GateClientError) -> PhoneVoucher? in try voucher.load() }
      let standing = try phone.withPhone(vouchedBy: evidence) { session async throws(DeviceFailure) in
        try await session.rotate(approvalKey: session.remembered?.keys.approval != nil)
      }
      say("rotated\(standing.map { ": \($0.line)" } ?? ", as the gate had it already")")
    }
  }
}
