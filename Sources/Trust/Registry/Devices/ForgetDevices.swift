/// `devices forget`: a device, or all of a subject, goes out of the store, and what the audit says of them out of the audit.
///
/// In two orders. The first revokes them; what follows waits until the key store has their App Attest keys on its disk, as a
/// device's row is what the next start knows by that nobody comes in with its key. The second forgets, piece by piece, as
/// there may be much of it and others are to have their turn. A device's row goes last, when nothing else tells of it:
/// whoever repeats an order that was cut short finds what is left. The answer comes when the store's log is empty, too.
internal import DeviceWire
internal import PortcullisProtocol

/// A device, or all of a subject's.
private enum Whom: Sendable {
  case device(DeviceID)
  case subject(Subject)

  init(_ arguments: OrderArguments) throws(FormError) {
    switch (try arguments.optionalText("id"), try DeviceOrders.knownSubject(arguments)) {
    case (.some, nil): self = .device(try DeviceOrders.id(arguments))
    case (nil, let subject?): self = .subject(subject)
    case (nil, nil), (.some, _?): throw FormError("id")
    }
  }

  var revoked: RegistryEffect {
    switch self {
    case .device(let id): .deviceRevoked(id)
    case .subject(let subject): .subjectRevoked(subject)
    }
  }

  var text: String {
    switch self {
    case .device(let id): "device \(id.text)"
    case .subject(let subject): "subject \(subject.name)"
    }
  }

  var key: AuditKey {
    switch self {
    case .device(let id): AuditKey(id)
    case .subject(let subject): AuditKey(subject)
    }
  }
}

/// The first order: `devices-end`. Keys of devices that are revoked already are told once more, so that whoever waits for
/// their store hears of it.
package struct EndForgotten: RegistryCall {
  private let whom: Whom

  package var urgency: Urgency { .revocation }
  package var immediate: [RegistryEffect] { [whom.revoked] }
  package var revokes: String { whom.text }

  init(_ arguments: OrderArguments) throws(FormError) {
    whom = try Whom(arguments)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    for device in try transaction.devices(of: whom) {
      var device = device
      if device.state == .revoked {
        try transaction.announceKeys(of: device)
      } else {
        try transaction.revoke(&device)
      }
    }
    return .reply(.answered(Array("{}".utf8)))
  }
}

/// The second.
package struct ForgetDevices: RegistryCall {
  private enum Step: Sendable {
    /// What others tell of them.
    case clear(Whom)
    /// What the audit does.
    case erase(Whom)
  }

  /// Rows of the audit in one piece.
  private static let piece = 512

  private let whom: Whom
  /// What is left to do; nil until it is known.
  private var steps: ArraySlice<Step>?
  private var devices = 0
  private var rows = 0

  package var urgency: Urgency { .revocation }
  package var revokes: String { "what is known of \(whom.text)" }

  init(_ arguments: OrderArguments) throws(FormError) {
    whom = try Whom(arguments)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var next = self
    guard let step = steps?.first else {
      return steps == nil ? try begin(&transaction) : try end(&transaction)
    }
    switch step {
    case .clear(let whom): try transaction.clear(whom)
    case .erase(let whom):
      let key = whom.key
      let count = try transaction.store.eraseAudit(about: key.bytes, limit: Self.piece)
      next.rows += count
      if count == Self.piece { return .goOn(next) }
      if case .device(let id) = whom {
        try transaction.store.delete(id)
        next.devices += 1
      }
    }
    next.steps?.removeFirst()
    return .goOn(next)
  }

  private func begin(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var all: [Whom] = []
    for device in try transaction.devices(of: whom) {
      // One has come since the first order: its key may be on no disk as revoked.
      guard device.state == .revoked else { throw .refused(.notPending, "device_not_ended") }
      all.append(.device(device.id))
    }
    if case .subject = whom { all.append(whom) }
    var next = self
    next.steps = all.flatMap { [.clear($0), .erase($0)] }[...]
    return .goOn(next)
  }

  private func end(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try transaction.recordErasure(of: rows)
    try transaction.record(.deviceForgotten, .count(devices))
    var answer = DeviceAnswer()
    answer.put("forgotten", Int64(devices))
    transaction.announce(.erased)
    return .erased(answer.reply())
  }
}

extension Transaction {
  fileprivate func devices(of whom: Whom) throws(CallFailure) -> [DeviceRecord] {
    let subject: Subject
    switch whom {
    case .device(let id): return [try device(id)]
    case .subject(let name): subject = name
    }
    var found: [DeviceRecord] = []
    while true {
      let last = found.last?.id
      let page = try store.devices(of: subject, in: nil, after: last, limit: ListDevices.longestPage)
      found += page
      if page.count < ListDevices.longestPage { return found }
    }
  }
}

extension Transaction {
  fileprivate mutating func clear(_ whom: Whom) throws(CallFailure) {
    switch whom {
    case .device(let id):
      try store.deleteVotes(of: id)
      try forgetCodes(of: .device(id))
      try forgetPairings(devices: [id], subjects: [])
    case .subject(let subject):
      try forgetApprovals(of: subject)
      try forgetCodes(of: .subject(subject))
      try forgetPairings(devices: [], subjects: [subject])
    }
  }
}
