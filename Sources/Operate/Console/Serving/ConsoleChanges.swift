/// What an operator of the console changes. Each change goes the way of the command that does the same, names him in the
/// audit, and is logged.
import Admin
import Assembly
import Bytes
import Control
import DeviceWire
import JSON
import Logging
import Registry
import System

extension ConsolePages {
  /// A reload reads files and asks all loops.
  private static let reloadTime: Duration = .seconds(20)

  // MARK: Sessions and keys

  func endSession(_ number: UInt64, _ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let refusal = command(.sessionsClose(.session(number)))
    note(.sessionEnded, [.number("session", Int64(clamping: number))], refusal, request)
    // The second of two clicks, or the player has left meanwhile.
    if refusal?.code == .unknownSession { throw .error(.conflict, "Session \(number) has ended already.") }
    if let refusal { throw ConsoleFailure(changing: refusal) }
    return done(.sessionEnded, .sessions, request)
  }

  func revokeKey(_ name: String, _ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let identifier = try identifier(name)
    let text = request.form["reason"] ?? ""
    let reason = RevocationReason(text)
    if reason == nil, text.contains(where: { $0 != " " }) {
      let problem = FieldProblem(
        field: "reason",
        text: "Write at most \(RevocationReason.longest) printable characters, on one line.")
      let page = try revokeKeyPage(name, reason: text, request, [problem])
      throw .answer(show(page, request, .badRequest))
    }
    let refusal = command(.keysRevoke(identifier, reason: reason))
    note(
      .keyRevoked, [.attestedKey(identifier)] + (reason.map { [.reason($0.text)] } ?? []), refusal, request)
    if let refusal { throw ConsoleFailure(changing: refusal) }
    return done(.keyRevoked, .key(identifier.base64), request)
  }

  // MARK: The gate

  func drain(
    _ order: ControlRequest, _ word: DoneWord, _ request: AdminRequest
  ) throws(ConsoleFailure) -> AdminAnswer {
    let refusal = command(order)
    note(word == .drainBegun ? .drainBegun : .drainEnded, [], refusal, request)
    if let refusal { throw ConsoleFailure(changing: refusal) }
    return done(word, .drain, request)
  }

  func endAll(_ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let refusal = command(.drainEnd)
    note(.allSessionsEnded, [], refusal, request)
    if let refusal { throw ConsoleFailure(changing: refusal) }
    return done(.allSessionsEnded, .drain, request)
  }

  func reload(_ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let reload = sources.settings.reload(within: Self.reloadTime)
    findings.forget()
    let refusal: ControlRefusal? =
      switch reload?.outcome {
      case nil: ControlRefusal(.timeout, "The main thread did not answer in time.")
      case .refused(let problems)?:
        ControlRefusal(.notAllowed, problems.first ?? "Nothing was changed: the log says why.")
      // One loop is behind, and the page says so: what was read holds all the same.
      case .taken?, .late?: nil
      }
    note(.reloaded, [], refusal, request)
    guard let refusal else { return done(.reloaded, .configuration, request) }
    if refusal.isPerhapsDone { throw ConsoleFailure(changing: refusal) }
    throw .answer(show(configuration(), request, .conflict))
  }

  // MARK: Devices and approvals

  func confirmDevice(_ id: String, _ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let seen = try lookAtDevice(id, request)
    let (row, pairing) = (seen.row, seen.pairing)
    if seen.lacksDigits(request) {
      log(.deviceConfirmed, row.id, Self.withoutDigits, request)
      throw ConsoleFailure(Self.withoutDigits)
    }
    let refusal: ControlRefusal?
    if let pairing {
      let digits = request.form["digits"] ?? ""
      refusal = failure(
        order(.pairConfirm, [("pairing_id", .string(pairing.id)), ("sas", .string(digits))], request))
    } else {
      let subject = request.form["subject"] ?? ""
      refusal = failure(
        order(
          .devicesConfirm,
          [("id", .string(row.id))] + (subject.isEmpty ? [] : [("subject", .string(subject))]), request))
    }
    log(.deviceConfirmed, row.id, refusal, request)
    guard let refusal else { return done(.deviceConfirmed, .device(row.id), request) }
    if refusal.kind == .unavailable { throw ConsoleFailure(changing: refusal) }
    // With three wrong tries the phone is gone, and the page with it.
    let field = pairing == nil ? "subject" : "digits"
    let problem = FieldProblem(field: field, text: Self.advice(refusal, field))
    let page = try confirmPage(id, request, [problem])
    throw .answer(show(page, request, refusal.kind == .badRequest ? .badRequest : .conflict))
  }

  static func advice(_ refusal: ControlRefusal, _ field: String) -> String {
    switch (refusal.code, field) {
    case (.wrongArguments, "digits"): "Type the six digits that the phone shows."
    case (.wrongArguments, _): "Invalid subject name: write 1 to 128 bytes on one line."
    case (.wrongDigits, _):
      "These are not the digits that the phone shows. One try is used up. If they differ on both, somebody stands between: "
        + "revoke the device."
    default: refusal.message
    }
  }

  func revokeDevice(_ id: String, _ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let refusal = failure(order(.devicesRevoke, [("id", .string(id))], request))
    log(.deviceRevoked, id, refusal, request)
    if let refusal { throw ConsoleFailure(changing: refusal) }
    return done(.deviceRevoked, .device(id), request)
  }

  func decide(
    _ id: String, _ verb: OperatorVerb, _ word: DoneWord, _ request: AdminRequest
  ) throws(ConsoleFailure) -> AdminAnswer {
    let refusal = failure(order(verb, [("id", .string(id))], request))
    log(word, id, refusal, request)
    guard let refusal else { return done(word, .approval(id), request) }
    guard refusal.kind == .conflict else { throw ConsoleFailure(changing: refusal) }
    let page = try approval(id, request, [FieldProblem(field: "", text: refusal.message)])
    throw .answer(show(page, request, .conflict))
  }

  // MARK: How it goes on

  /// Nil when it was done.
  private func command(_ order: ControlRequest) -> ControlRefusal? {
    guard case .refused(let refusal) = sources.control.answer(order, from: nil) else { return nil }
    return refusal
  }

  private func failure(_ result: Result<JSONValue, ControlRefusal>) -> ControlRefusal? {
    guard case .failure(let refusal) = result else { return nil }
    return refusal
  }

  func done(_ word: DoneWord, _ path: ConsolePath, _ request: AdminRequest) -> AdminAnswer {
    guard ConsoleRow.isJSON(request.path) else { return .seeOther(path.after(word).text) }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("done")
    writer.value(word.rawValue)
    if word == .pairingOpened { writer.member("href", path.text) }
    writer.endObject()
    return .json(.ok, writer.bytes)
  }

  /// What no call of the registry's has in the audit.
  private func note(
    _ event: AuditEntry.Event, _ members: [AuditEntry.Member], _ refusal: ControlRefusal?,
    _ request: AdminRequest
  ) {
    var audited: ControlRefusal?
    // The audit also says what may have been done.
    let isPerhaps = refusal?.isPerhapsDone == true
    if refusal == nil || isPerhaps, sources.hasDevices {
      let (control, origin) = (sources.control, origin(of: request.actor))
      let members = members + (isPerhaps ? [.word("result", "perhaps")] : [])
      audited = control.note(NoteOperatorAction(event, members), by: origin)
    }
    log(event.word, request.path, refusal, audited, request)
  }

  func log(_ word: DoneWord, _ about: String, _ refusal: ControlRefusal?, _ request: AdminRequest) {
    log(word.rawValue, about, refusal, nil, request)
  }

  private func log(
    _ action: String, _ about: String, _ refusal: ControlRefusal?, _ audited: ControlRefusal?,
    _ request: AdminRequest
  ) {
    sources.log.notice(
      "operator_action",
      metadata: [
        "actor": "\(PrintableText.field(request.actor.name, limit: 64))", "action": "\(action)",
        "about": "\(PrintableText.field(about, limit: 128))",
        "result": refusal.map { $0.isPerhapsDone ? "perhaps" : "refused" } ?? "done",
      ].merging(
        (refusal ?? audited).map { [refusal == nil ? "audit" : "reason": "\($0.code.rawValue)"] } ?? [:],
        uniquingKeysWith: { one, _ in one }))
  }
}
