/// The demonstration's chapter about phones that decide: one is paired by its code, and asked whom the game may
/// promote.
internal import Device
internal import DeviceWire
internal import Dialing
internal import Identity
internal import JSON
internal import PortcullisDevice
import Registry
internal import System
internal import Time

extension Demonstration {
  func decide() {
    tell("\nAnna decides on her phone who becomes a wizard")
    let file = folder + "/anna.json"
    step("an operator shows a QR code, the phone shows six digits, the operator types them") { _, authority in
      let pairing = try self.office.order(.pairOpen, [("subject", .string("anna"))])
      guard let id = pairing["pairing_id"]?.string, let uri = PairingURI(pairing["uri"]?.string ?? "") else {
        return nil
      }
      let phone = try PhoneAtWork("Anna's phone", scanning: uri, in: file, vouchedBy: authority)
      defer { phone.join() }
      let digits = try phone.digits()
      try self.waitUntil("revealed", pairing: id)
      _ = try self.office.order(.pairConfirm, [("pairing_id", .string(id)), ("sas", .string(digits))])
      let outcome = try phone.outcome()
      return "\(digits), \(outcome)"
    }
    step("the game becomes a service, and asks before it promotes anybody") { _, _ in
      let service = try self.office.order(
        .servicesAdd,
        [("name", .string("mud")), ("scopes", .array([.string("approvals"), .string("codes")]))])
      guard let token = service["token"]?.string else { return nil }
      let asker = ApprovalService(url: self.sessionGate.url, trust: self.sessionGate.trust, token: token)
      self.service = asker
      self.mud.consult(asker)
      return "its token is shown once"
    }
    step("promote gandalf: the phone wants the two digits that the wizard sees, and Face ID") { app, _ in
      try Self.promotion(of: "gandalf", app, file) { code in
        guard let code = MatchCode(code) else { return nil }
        return Vote(.approve, matchCode: code)
      }
    }
    step("promote saruman: she denies") { app, _ in
      try Self.promotion(of: "saruman", app, file) { _ in Vote(.deny, matchCode: .none) }
    }
  }

  /// A phone that shows its digits until somebody types them, or until `end` is called.
  func showDigits(of person: String, vouchedBy authority: TestAttestationAuthority) throws -> WaitingPhone {
    let pairing = try office.order(.pairOpen, [("subject", .string(person.lowercased()))])
    guard let id = pairing["pairing_id"]?.string, let uri = PairingURI(pairing["uri"]?.string ?? "") else {
      throw DemonstrationFailure(description: "no code to scan")
    }
    let file = folder + "/\(person).json"
    let phone = try PhoneAtWork("\(person)'s phone", scanning: uri, in: file, vouchedBy: authority)
    let digits = try phone.digits()
    try waitUntil("revealed", pairing: id)
    return WaitingPhone(digits: digits) { [office] in
      // It is over already where the digits were typed.
      _ = try? office.order(.pairBurn, [("pairing_id", .string(id))])
      phone.join()
    }
  }

  struct WaitingPhone {
    let digits: String
    let end: () -> Void
  }

  /// The operator sees how far the phone is.
  private func waitUntil(_ stage: String, pairing id: String) throws {
    let patience = Deadline.after(.seconds(10))
    while try office.order(.pairStatus, [("pairing_id", .string(id))])["status"]?.string != stage {
      if patience.hasPassed { throw DemonstrationFailure(description: "the phone is not \(stage)") }
      SystemClock().sleep(until: SystemClock().monotonic() + .milliseconds(20))
    }
  }

  /// What the game says in the end.
  private static func promotion(
    of name: String, _ app: SimulatedApp, _ file: String, vote: (String) -> Vote?
  ) throws -> String? {
    let session = try app.connect()
    try session.send(binary: Array("promote \(name)\n".utf8))
    let asked = try text(of: session, until: ".\r\n", after: "hear from you: ")
    guard let vote = vote(asked) else { return nil }
    let phone = SimulatedPhone(at: file, trust: .system, timeout: .seconds(10)).session
    let decided = try SimulatedPhone.wait { () async throws(DeviceFailure) -> ApprovalState? in
      guard let item = try await phone.approvals().first, item.summary?.target["player"] == name else {
        return nil
      }
      return try await phone.vote(
        vote.decision, on: item, code: vote.matchCode.text, reason: "Promote \(name)")
    }
    guard let outcome = decided?.word else { return nil }
    let heard = try text(of: session, until: ".\r\n", after: "\(name) ")
    try session.send(binary: Array("quit\n".utf8))
    _ = try end(of: session)
    let expected = vote.decision == .approve ? ("approved", "is a wizard now") : ("denied", "stays what")
    guard outcome == expected.0, heard.hasPrefix(expected.1) else { return nil }
    return "\(asked), \(outcome): \(name) \(heard)"
  }

  /// Of what the game says: from behind one text to in front of another.
  private static func text(
    of session: WebSocketClient, until end: String, after start: String
  ) throws -> String {
    var heard = ""
    while true {
      switch try session.receive(timeout: .seconds(10)) {
      case .binary(let bytes): heard += String(decoding: bytes, as: UTF8.self)
      case .text(let text): heard += text
      case .pong: break
      case .closed(let code, let reason):
        throw DemonstrationFailure(description: "closed early: \(code) \(reason)")
      }
      let behind = heard.split(separator: start, maxSplits: 1, omittingEmptySubsequences: false)
      guard behind.count == 2 else { continue }
      let found = behind[1].split(separator: end, maxSplits: 1, omittingEmptySubsequences: false)
      if found.count == 2 { return String(found[0]) }
    }
  }
}

/// A phone that pairs on a thread of its own, as it waits for the operator meanwhile.
private final class PhoneAtWork {
  private struct Progress {
    var digits: String?
    var outcome: Result<String, DemonstrationFailure>?
  }

  private let progress: Monitor<Progress>
  private let thread: JoinHandle

  init(
    _ name: String, scanning uri: PairingURI, in file: String, vouchedBy authority: TestAttestationAuthority
  ) throws {
    let progress = Monitor(Progress())
    self.progress = progress
    let thread = try Thread(name: "phone") { PhoneAtWork.work(name, uri, file, authority, progress) }
    self.thread = JoinHandle(thread)
  }

  private static func work(
    _ name: String, _ uri: PairingURI, _ file: String, _ authority: TestAttestationAuthority,
    _ progress: Monitor<Progress>
  ) {
    let outcome: Result<String, DemonstrationFailure>
    do throws(DemonstrationFailure) {
      outcome = .success(
        try pair(name, uri, in: file, authority) { digits in
          progress.withLock { state, wake in
            state.digits = digits
            wake.all()
          }
        })
    } catch {
      outcome = .failure(error)
    }
    progress.withLock { state, wake in
      state.outcome = outcome
      wake.all()
    }
  }

  private static func pair(
    _ name: String, _ uri: PairingURI, in file: String, _ authority: TestAttestationAuthority,
    show: @escaping @Sendable (String) -> Void
  ) throws(DemonstrationFailure) -> String {
    guard let name = DeviceName(name) else { return "" }
    let enclave: SoftwareEnclave
    do { enclave = try .generate(appID: Demonstration.appID, environment: .production) } catch {
      throw DemonstrationFailure(description: error.description)
    }
    let phone = SimulatedPhone(
      at: file, trust: .publicKeys([uri.serverKeyHash]), timeout: .seconds(10),
      voucher: .app(PhoneApp(enclave, authority))
    ).session
    do {
      return try SimulatedPhone.wait { () async throws(DeviceFailure) in
        try await phone.pair(PairingCode(uri), as: name) { show($0.text) }
        return "paired as \(try await phone.device?.text ?? "")"
      }
    } catch {
      throw DemonstrationFailure(description: error.description)
    }
  }

  func digits() throws -> String { try wait { $0.digits ?? ($0.outcome == nil ? nil : "") } }

  func outcome() throws -> String { try wait { $0.outcome }.get() }

  private func wait<Value: Sendable>(_ look: @escaping (Progress) -> Value?) throws -> Value {
    let patience = SystemClock().monotonic() + .seconds(10)
    let found = progress.wait(until: patience) { state -> Waited<Value> in
      look(state).map { .done($0) } ?? .wait
    }
    guard let found else { throw DemonstrationFailure(description: "the phone says nothing") }
    return found
  }

  func join() {
    thread.join()
  }
}
