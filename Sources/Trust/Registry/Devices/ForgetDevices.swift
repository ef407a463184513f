/// `devices forget`: a device, or all of a subject, goes out of the store, and what the audit says of them out of the audit.
///
/// Piece by piece, as there may be much of it and others are to have their turn. First of all nobody comes in any more. A
/// device's row goes last, when nothing else tells of it: whoever repeats an order that was cut short finds what is left.
internal import DeviceWire
internal import PortcullisProtocol

package struct ForgetDevices: RegistryCall {
  fileprivate enum Whom: Sendable {
    case device(DeviceID)
    case subject(Subject)
  }

  private enum Step: Sendable {
    /// What others tell of them.
    case clear(Whom)
    /// What the audit does.
    case erase(Whom)
  }

  /// Rows of the audit in one piece.
  private static let piece = 512

  private let whom: Whom
  /// What is left to do; nil until all of them are revoked.
  private var steps: ArraySlice<Step>?
  private var devices = 0
  private var rows = 0

  package var urgency: Urgency { .revocation }
  package var immediate: [RegistryEffect] {
    switch whom {
    case .device(let id): [.deviceRevoked(id)]
    case .subject(let subject): [.subjectRevoked(subject)]
    }
  }
  package var revokes: String {
    switch whom {
    case .device(let id): "what is known of device \(id.text)"
    case .subject(let subject): "what is known of subject \(subject.name)"
    }
  }

  init(_ arguments: OrderArguments) throws(FormError) {
    switch (try arguments.optionalText("id"), try DeviceOrders.subject(arguments)) {
    case (.some, nil): whom = .device(try DeviceOrders.id(arguments))
    case (nil, let subject?): whom = .subject(subject)
    case (nil, nil), (.some, _?): throw FormError("id")
    }
  }

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    var next = self
    guard let step = steps?.first else { return steps == nil ? try begin(&desk) : try end(&desk) }
    switch step {
    case .clear(let whom): try desk.clear(whom)
    case .erase(let whom):
      let key = whom.key
      let count = try desk.storing { (store) throws(StoreFailure) in
        try store.eraseAudit(about: key.bytes, limit: Self.piece)
      }
      next.rows += count
      if count == Self.piece { return .goOn(next) }
      if case .device(let id) = whom {
        try desk.storing { (store) throws(StoreFailure) in try store.delete(id) }
        next.devices += 1
      }
    }
    next.steps?.removeFirst()
    return .goOn(next)
  }

  private func begin(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    var all: [Whom] = []
    for device in try found(desk) {
      var device = device
      if device.state != .revoked { try desk.revoke(&device) }
      all.append(.device(device.id))
    }
    if case .subject = whom { all.append(whom) }
    var next = self
    next.steps = all.flatMap { [.clear($0), .erase($0)] }[...]
    return .goOn(next)
  }

  private func end(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    try desk.recordErasure(of: rows)
    try desk.record(.deviceForgotten, .count(devices))
    var answer = DeviceAnswer()
    answer.put("forgotten", Int64(devices))
    return .reply(answer.reply())
  }

  private func found(_ desk: Desk) throws(CallFailure) -> [DeviceRecord] {
    let subject: Subject
    switch whom {
    case .device(let id): return [try desk.device(id)]
    case .subject(let name): subject = name
    }
    var found: [DeviceRecord] = []
    while true {
      let last = found.last?.id
      let page = try desk.storing { (store) throws(StoreFailure) in
        try store.devices(of: subject, in: nil, after: last, limit: ListDevices.longestPage)
      }
      found += page
      if page.count < ListDevices.longestPage { return found }
    }
  }
}

extension ForgetDevices.Whom {
  fileprivate var key: AuditKey {
    switch self {
    case .device(let id): AuditKey(id)
    case .subject(let subject): AuditKey(subject)
    }
  }
}

extension Desk {
  fileprivate mutating func clear(_ whom: ForgetDevices.Whom) throws(CallFailure) {
    switch whom {
    case .device(let id):
      try storing { (store) throws(StoreFailure) in try store.deleteVotes(of: id) }
      try forgetCodes(of: .device(id))
      try forgetPairings(devices: [id], subjects: [])
    case .subject(let subject):
      try forgetApprovals(of: subject)
      try forgetCodes(of: .subject(subject))
      try forgetPairings(devices: [], subjects: [subject])
    }
  }
}
