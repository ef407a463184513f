/// A pairing of the console: opened, looked at, confirmed by its digits, or given up, by the orders of `portcullis devices pair`.
import Admin
import Control
import DeviceWire
import JSON
import Registry

extension ConsolePages {
  // MARK: Looking

  func pairing(
    _ id: String, _ request: AdminRequest, _ problems: [FieldProblem] = []
  ) throws(ConsoleFailure) -> PairingPage {
    guard let pairing = PairingID(id) else { throw .error(.notFound, "There is no such pairing.") }
    let found = try ask(LookAtPairing(id: pairing), request)
    let mayPair = request.actor.scopes.contains(.write)
    return PairingPage(
      id: id, stage: PairingPage.Stage(found.pairing.state), uri: mayPair ? found.uri?.text : nil,
      subject: found.pairing.subject?.name, deviceID: found.device?.id.text,
      deviceName: found.device?.name?.text, level: found.device?.level.rawValue,
      platform: found.device?.platform.rawValue, expiresAt: found.pairing.expiresAt.wholeSecond,
      triesLeft: found.triesLeft, problems: problems)
  }

  // MARK: Changing

  func openPairing(_ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    var page = PairPage(subject: request.form["subject"] ?? "", name: request.form["name"] ?? "")
    var arguments: [(name: String, value: JSONValue)] = []
    if !page.subject.isEmpty {
      arguments.append(("subject", .string(page.subject)))
      if Subject(page.subject) == nil {
        page.problems.append(
          FieldProblem(field: "subject", text: "Invalid subject name: write 1 to 128 bytes on one line."))
      }
    }
    if !page.name.isEmpty {
      arguments.append(("name", .string(page.name)))
      if DeviceName(page.name) == nil {
        page.problems.append(
          FieldProblem(field: "name", text: "Invalid name of a phone: write 1 to 64 characters on one line."))
      }
    }
    guard page.problems.isEmpty else { throw .answer(show(page, request, .badRequest)) }
    let opened: JSONObject?
    switch order(.pairOpen, arguments, request) {
    case .success(let value): opened = value.object
    case .failure(let refusal):
      log(.pairingOpened, page.subject, refusal, request)
      guard refusal.kind == .conflict else { throw ConsoleFailure(changing: refusal) }
      page.problems = [FieldProblem(field: "", text: refusal.message)]
      throw .answer(show(page, request, .conflict))
    }
    guard let id = opened?.text("pairing_id") else {
      throw .perhaps("The registry has not said which pairing it opened.")
    }
    log(.pairingOpened, id, nil, request)
    return done(.pairingOpened, ConsolePath.pair.appending(id), request)
  }

  func confirmPairing(_ id: String, _ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let digits = request.form["digits"] ?? ""
    let result = order(.pairConfirm, [("pairing_id", .string(id)), ("sas", .string(digits))], request)
    switch result {
    case .success(let value):
      let device = value.object?.text("device_id")
      log(.deviceConfirmed, device ?? id, nil, request)
      return done(.deviceConfirmed, device.map { .device($0) } ?? .devices, request)
    case .failure(let refusal):
      log(.deviceConfirmed, id, refusal, request)
      if refusal.kind == .unavailable || refusal.kind == .notFound { throw ConsoleFailure(changing: refusal) }
      var page = try pairing(id, request)
      // With three wrong tries the field is gone.
      page.problems = [FieldProblem(field: page.isOpen ? "digits" : "", text: Self.advice(refusal, "digits"))]
      throw .answer(show(page, request, refusal.kind == .badRequest ? .badRequest : .conflict))
    }
  }

  func endPairing(_ id: String, _ request: AdminRequest) throws(ConsoleFailure) -> AdminAnswer {
    let result = order(.pairBurn, [("pairing_id", .string(id))], request)
    if case .failure(let refusal) = result {
      log(.pairingEnded, id, refusal, request)
      throw ConsoleFailure(changing: refusal)
    }
    log(.pairingEnded, id, nil, request)
    return done(.pairingEnded, .devices, request)
  }
}

extension PairingPage.Stage {
  fileprivate init(_ state: PairingRecord.State) {
    self =
      switch state {
      case .open: .open
      case .answered: .answered
      case .revealed: .revealed
      case .active: .active
      case .refused: .over
      }
  }
}
