/// Whoever shows the code looks how far the phone is, types the digits that it shows, or gives up.
package import DeviceWire
internal import JSON
internal import PortcullisProtocol

/// `GET /pair/{id}` by a service, `pair-status` by an operator: with a wait, until there is something to do.
package struct PairingStatus: RegistryCall {
  private let id: PairingID
  private let owner: PairingOwner

  package init(_ id: PairingID, of owner: PairingOwner) {
    self.id = id
    self.owner = owner
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let pairing = try transaction.pairing(id, of: owner)
    let reply = try transaction.status(of: pairing)
    switch pairing.state {
    case .open, .answered:
      guard transaction.wait != nil, let party = party(pairing, transaction) else { return .reply(reply) }
      return .wait(.pairing(id), by: party, otherwise: reply)
    case .revealed, .active, .refused: return .reply(reply)
    }
  }

  private func party(_ pairing: PairingRecord, _ transaction: Transaction) -> Party? {
    switch (owner, transaction.origin) {
    case (.service, _): pairing.service.map { .service($0) }
    case (.host, .process(_, let process)): .process(process)
    case (.host, .address), (.host, .console), (.host, .gate): nil
    }
  }
}

/// `POST /pair/{id}/confirm` by a service, `pair-confirm` by an operator: the one step that makes the phone a device.
package struct ConfirmPairing: RegistryCall {
  private let id: PairingID
  private let owner: PairingOwner
  private let digits: PairingDigits

  package init(_ id: PairingID, of owner: PairingOwner, digits: PairingDigits) {
    self.id = id
    self.owner = owner
    self.digits = digits
  }

  package init(_ id: PairingID, form: Form, token: String) throws(FormError) {
    self.init(id, of: .service(token), digits: try form.text("sas") { PairingDigits(typed: $0) })
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let pairing = try transaction.pairing(id, of: owner)
    switch pairing.state {
    case .open, .answered: throw .refused(.notPending, "pairing_not_revealed")
    case .refused: return .reply(.refused(RegistryRefusal(.pairingRejected, "pairing_ended")))
    case .active:
      // The answer was lost: whoever knows the digits hears it again.
      guard pairing.digits?.isEqual(to: digits) == true else {
        throw .refused(.notPending, "pairing_active")
      }
      return .reply(try transaction.status(of: pairing))
    case .revealed: break
    }
    guard pairing.digits?.isEqual(to: digits) == true else { return try count(pairing, &transaction) }
    return .reply(try activate(pairing, &transaction))
  }

  private func count(_ pairing: PairingRecord, _ transaction: inout Transaction) throws(CallFailure)
    -> Outcome
  {
    var tried = pairing
    tried.wrongDigits += 1
    if tried.wrongDigits >= PairingRecord.digitsToBurn {
      try transaction.end(tried, .pairingBurnt)
      return .reply(.refused(RegistryRefusal(.pairingRejected, "pairing_digits")))
    }
    let update = tried
    try transaction.store.update(update)
    return .reply(.refused(RegistryRefusal(.codeRejected, "pairing_digits")))
  }

  private func activate(_ pairing: PairingRecord, _ transaction: inout Transaction) throws(CallFailure)
    -> Reply
  {
    guard let id = pairing.answer?.device,
      var device = try transaction.store.device(id)
    else { throw .refused(.pairingRejected, "pairing_device_gone") }
    // From now on it is called as the operator wants; until then it had the name that its screen has.
    if let name = pairing.name { device.name = name }
    switch device.state {
    case .pending: try transaction.activate(&device, subject: pairing.subject)
    case .active:
      // An operator has confirmed it by its name meanwhile; whom he has named then, he has named.
      if device.subject == nil, let subject = pairing.subject { try transaction.assign(&device, to: subject) }
      try transaction.keep(device)
    case .revoked:
      try transaction.end(pairing, .pairingCancelled)
      return .refused(RegistryRefusal(.pairingRejected, "pairing_device_revoked"))
    }
    var active = pairing
    active.state = .active
    active.secret = nil
    active.endedAt = transaction.now
    let update = active
    try transaction.store.update(update)
    try transaction.record(.pairingConfirmed, .pairing(pairing.id), .device(id))
    transaction.announce(.wake(.pairing(pairing.id)))
    return try transaction.status(of: active)
  }
}

/// `pair-burn`: the operator gives up.
package struct BurnPairing: RegistryCall {
  private let id: PairingID

  package init(_ id: PairingID) {
    self.id = id
  }

  package var urgency: Urgency { .revocation }
  package var revokes: String { "pairing \(id.text)" }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let pairing = try transaction.pairing(id, of: .host)
    guard pairing.state.isOpen else { return .reply(try transaction.status(of: pairing)) }
    return .reply(try transaction.status(of: try transaction.end(pairing, .pairingCancelled)))
  }
}
