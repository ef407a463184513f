/// `portcullis simulate phone`: a software phone that pairs, votes and shows itself as an app does (docs/devices.md).
public import ArgumentParser
import Device
import DeviceWire
import Dialing
import PortcullisDevice
import PortcullisProtocol
import System

extension Simulate {
  struct Phone: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Play a phone: pair it by a QR code, approve what a service asks, keep its keys.",
      discussion: """
        Keys that a phone has in hardware lie in the state file, which is made by pair and by enroll. A paired phone \
        knows the gate by the keys that its QR code and later answers have named, and nobody else.

        Exit status: 0 done, 64 wrong usage, 65 unusable data, 69 gate unavailable, 77 refused by the gate.
        """,
      subcommands: [
        Pair.self, Enroll.self, Attest.self, Approvals.self, OTP.self, Heartbeat.self, Standing.self,
        Token.self, Rotate.self,
        Presence.self,
      ])

    @Option(help: "The file with the phone's keys and what it knows of the gate.", completion: .file())
    var state = "certs/dev/phone.json"

    @Option(
      help: "For a phone without pins: trust the authorities in this PEM file instead of the system's.",
      completion: .file())
    var ca: String?

    @Option(help: "For a phone without pins: trust the certificate with this SHA-256 fingerprint alone.")
    var pin: String?

    @Option(help: "How many seconds connecting, or one answer of the gate, may take.")
    var timeout = 10

    func validate() throws {
      _ = try GateOptions.trust(ca: ca, pin: pin)
      guard GateOptions.timeouts.contains(timeout) else {
        throw ValidationError("--timeout takes 1 to 3600 seconds.")
      }
    }

    var trust: ServerTrust {
      get throws { try GateOptions.trust(ca: ca, pin: pin) }
    }

    /// A phone over the state file, which need not be there yet.
    func device(vouchedBy voucher: PhoneVoucher? = nil) throws -> SimulatedPhone {
      SimulatedPhone(at: state, trust: try trust, timeout: .seconds(timeout), voucher: voucher)
    }

    /// What a verb does with the phone in the state file.
    func withPhone<Result: Sendable>(
      vouchedBy voucher: PhoneVoucher? = nil,
      _ body: @escaping @Sendable (DeviceSession) async throws(DeviceFailure) -> Result
    ) throws -> Result {
      do { _ = try WholeFile.read(state) } catch { throw SimulateFailure.report(.device(.file(error))) }
      return try run(device(vouchedBy: voucher), body)
    }

    func run<Result: Sendable>(
      _ phone: SimulatedPhone,
      _ body: @escaping @Sendable (DeviceSession) async throws(DeviceFailure) -> Result
    ) throws -> Result {
      let session = phone.session
      do throws(DeviceFailure) {
        return try SimulatedPhone.wait { () async throws(DeviceFailure) in try await body(session) }
      } catch {
        throw SimulateFailure.report(error, of: phone)
      }
    }
  }
}

extension DeviceAssurance {
  var line: String {
    "\(status.map { "\($0), " } ?? "")level \(level.rawValue), uv \(userVerification.rawValue)"
  }
}

extension DevicePlatform: ExpressibleByArgument {}
