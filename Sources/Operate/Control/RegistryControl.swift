/// Gives operators' orders to the registry and waits for what comes of them (docs/running.md, "Control socket").
package import Bytes
import JSON
import Logging
import PortcullisProtocol
package import Registry
package import Sockets
import Synchronization
import System
import Time

package final class RegistryControl: Sendable {
  /// So many may wait for news at once, as each has a thread of the control socket meanwhile; others are answered at once.
  private static let waitersLimit = 2
  private static let longestWait: Duration = .seconds(5)

  private let registry: Registry
  private let actions: OperatorActions
  private let waiters = Atomic<Int>(0)

  package init(_ registry: Registry, _ actions: OperatorActions) {
    self.registry = registry
    self.actions = actions
  }

  package func answer(_ order: RegistryOrder, from peer: UnixPeer?) -> ControlAnswer {
    guard let peer else {
      return .refused(ControlRefusal(.notPermitted, "the kernel does not tell who asks"))
    }
    let answer = answer(order, by: .process(user: peer.user, process: peer.process))
    actions.log(order, answer, by: peer)
    return answer
  }

  package func answer(_ order: RegistryOrder, by origin: Origin) -> ControlAnswer {
    do throws(FormError) {
      var call = try OperatorOrder.call(order.verb, order.arguments)
      if let asked = call as? RequestApprovalOfUser, case .process(let user, _) = origin {
        call = asked.known(as: AccountName.of(user: user))
      }
      return answer(call, wait: wait(order), by: origin)
    } catch {
      return .refused(
        ControlRefusal(
          .wrongArguments, OrderWords.refusal(order.verb, error.step, order.arguments[error.step])))
    }
  }

  private func wait(_ order: RegistryOrder) -> Duration? {
    guard let seconds = order.arguments["wait"]?.integer, seconds > 0 else { return nil }
    return min(.seconds(min(seconds, 60)), Self.longestWait)
  }

  /// The answer as it is, for who shows it in this process.
  package func ask<Call: AnsweringCall>(
    _ call: Call, by origin: Origin
  ) -> Result<Call.Answer, ControlRefusal> {
    let reply = registry.ask(call, by: origin)
    if case .value(let answer as Call.Answer)? = reply { return .success(answer) }
    if case .refused(let refusal) = Self.answer(reply, to: call) { return .failure(refusal) }
    return .failure(ControlRefusal(.badRequest, "unexpected reply type (internal error)"))
  }

  /// An App Attest key was revoked: what it vouched for ends as well.
  /// - Returns: nil when that is on the disk.
  package func end(_ keyID: KeyIdentifier) -> ControlRefusal? {
    let call = EndAttestedKeys([keyID])
    guard case .refused(let refusal) = Self.answer(registry.ask(call, by: .gate), to: call) else {
      return nil
    }
    return refusal
  }

  /// What somebody has done that is no order of the registry's parts.
  /// - Returns: nil when it is on the disk.
  package func note(_ action: NoteOperatorAction, by origin: Origin) -> ControlRefusal? {
    guard case .refused(let refusal) = Self.answer(registry.ask(action, by: origin), to: action) else {
      return nil
    }
    return refusal
  }

  /// The same without waiting for the disk: what was done is done, and the log has it in any case.
  func noteLater(_ action: NoteOperatorAction, _ word: String, by origin: Origin) {
    let logger = actions.logger
    let lack: @Sendable (String) -> Void = { code in
      logger.error("admin_not_audited", metadata: ["action": "\(word)", "reason": "\(code)"])
    }
    let handle = registry.submit(action, lane: .host, origin: origin) { reply in
      if case .refused(let refusal) = reply { lack(refusal.code.rawValue) }
    }
    if handle == nil { lack("overloaded") }
  }

  private func answer(_ call: any RegistryCall, wait: Duration?, by origin: Origin) -> ControlAnswer {
    let waiting = wait == nil ? 0 : waiters.add(1, ordering: .relaxed).newValue
    defer { if wait != nil { waiters.subtract(1, ordering: .relaxed) } }
    return Self.answer(
      registry.ask(call, by: origin, wait: waiting > Self.waitersLimit ? nil : wait), to: call)
  }

  // MARK: Answers

  private static func answer(_ reply: Reply?, to call: any RegistryCall) -> ControlAnswer {
    switch reply {
    case nil where call.urgency == .revocation:
      return .refused(
        ControlRefusal(
          .notWritten,
          "the store of devices does not answer; a revocation holds in the running gate all the same, and is written "
            + "as soon as it does"))
    case nil:
      return .refused(
        ControlRefusal(.timeout, "the registry does not answer in time: what was ordered may yet be done"))
    case .answered(let bytes), .created(let bytes): return written(bytes)
    case .value(let answer): return written(answer.json)
    // No operator asks whether he may ask, or brings evidence.
    case .permitted, .keys:
      return .refused(ControlRefusal(.badRequest, "unexpected reply type (internal error)"))
    case .refused(let refusal): return .refused(Self.refusal(refusal))
    }
  }

  private static func written(_ bytes: [UInt8]) -> ControlAnswer {
    guard let value = try? JSONValue(parsing: bytes.span, depthLimit: 12) else {
      return .refused(ControlRefusal(.badRequest, "unreadable reply (internal error)"))
    }
    return .registry(value)
  }

  private static func refusal(_ refusal: RegistryRefusal) -> ControlRefusal {
    let why = refusal.says ?? "\(refusal.code.sentence) (\(refusal.code.rawValue), \(refusal.step))"
    switch refusal.code {
    case .notFound, .deviceUnknown: return ControlRefusal(.unknownObject, why)
    case .badRequest: return ControlRefusal(.wrongArguments, why)
    case .storeUnavailable:
      return ControlRefusal(
        .notWritten,
        "the store of devices cannot be written; a revocation holds in the running gate all the same, and is tried "
          + "again")
    case .notPending where refusal.step == "device_in_pairing":
      return ControlRefusal(
        .notAllowed,
        "the phone is being paired: type its six digits where its QR code is shown, which confirms it "
          + "(\(refusal.code.rawValue), \(refusal.step))")
    // The try is used up; with the last of them the pairing is over, and the code is another.
    case .codeRejected where refusal.step == "pairing_digits": return ControlRefusal(.wrongDigits, why)
    case .overloaded: return ControlRefusal(.busy, why)
    case .shuttingDown: return ControlRefusal(.shuttingDown, why)
    case .internalError: return ControlRefusal(.badRequest, why)
    default: return ControlRefusal(.notAllowed, why)
    }
  }
}

extension Registry {
  /// Gives a call to the registry and waits for its reply, within what commands wait themselves; nil when there is none in
  /// time.
  package func ask(_ call: any RegistryCall, by origin: Origin, wait: Duration? = nil) -> Reply? {
    let answered = Monitor<Reply?>(nil)
    let handle = submit(call, lane: .host, origin: origin, wait: wait) { reply in
      answered.withLock { state, wake in
        state = reply
        wake.all()
      }
    }
    guard let handle else { return .refused(RegistryRefusal(.overloaded, "registry_queue")) }
    let reply = answered.wait(until: SystemClock().monotonic() + .seconds(15)) { state -> Waited<Reply> in
      state.map { .done($0) } ?? .wait
    }
    if reply == nil { cancel(handle) }
    return reply
  }
}
