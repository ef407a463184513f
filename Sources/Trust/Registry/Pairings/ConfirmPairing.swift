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

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let pairing = try desk.pairing(id, of: owner)
    let reply = try desk.status(of: pairing)
    switch pairing.state {
    case .open, .answered:
      guard desk.wait != nil, let party = party(pairing, desk) else { return .reply(reply) }
      return .wait(.pairing(id), by: party, otherwise: reply)
    case .revealed, .active, .refused: return .reply(reply)
    }
  }

  private func party(_ pairing: PairingRecord, _ desk: Desk) -> Party? {
    switch (owner, desk.origin) {
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

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let pairing = try desk.pairing(id, of: owner)
    switch pairing.state {
    case .open, .answered: throw .refused(.notPending, "pairing_not_revealed")
    case .refused: return .reply(.refused(RegistryRefusal(.pairingRejected, "pairing_ended")))
    case .active:
      // The answer was lost: whoever knows the digits hears it again.
      guard pairing.digits?.isEqual(to: digits) == true else {
        throw .refused(.notPending, "pairing_active")
      }
      return .reply(try desk.status(of: pairing))
    case .revealed: break
    }
    guard pairing.digits?.isEqual(to: digits) == true else { return try count(pairing, &desk) }
    return .reply(try activate(pairing, &desk))
  }

  private func count(_ pairing: PairingRecord, _ desk: inout Desk) throws(CallFailure) -> Outcome {
    var tried = pairing
    tried.wrongDigits += 1
    if tried.wrongDigits >= PairingRecord.digitsToBurn {
      try desk.end(tried, .pairingBurnt)
      return .reply(.refused(RegistryRefusal(.pairingRejected, "pairing_digits")))
    }
    let update = tried
    try desk.store.update(update)
    return .reply(.refused(RegistryRefusal(.codeRejected, "pairing_digits")))
  }

  private func activate(_ pairing: PairingRecord, _ desk: inout Desk) throws(CallFailure) -> Reply {
    guard let id = pairing.answer?.device,
      var device = try desk.store.device(id)
    else { throw .refused(.pairingRejected, "pairing_device_gone") }
    // From now on it is called as the operator wants; until then it had the name that its screen has.
    if let name = pairing.name { device.name = name }
    switch device.state {
    case .pending: try desk.activate(&device, subject: pairing.subject)
    case .active:
      // An operator has confirmed it by its name meanwhile; whom he has named then, he has named.
      if device.subject == nil, let subject = pairing.subject { try desk.assign(&device, to: subject) }
      try desk.keep(device)
    case .revoked:
      try desk.end(pairing, .pairingCancelled)
      return .refused(RegistryRefusal(.pairingRejected, "pairing_device_revoked"))
    }
    var active = pairing
    active.state = .active
    active.secret = nil
    active.endedAt = desk.now
    let update = active
    try desk.store.update(update)
    try desk.record(.pairingConfirmed, .pairing(pairing.id), .device(id))
    desk.announce(.wake(.pairing(pairing.id)))
    return try desk.status(of: active)
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

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let pairing = try desk.pairing(id, of: .host)
    guard pairing.state.isOpen else { return .reply(try desk.status(of: pairing)) }
    return .reply(try desk.status(of: try desk.end(pairing, .pairingCancelled)))
  }
}
