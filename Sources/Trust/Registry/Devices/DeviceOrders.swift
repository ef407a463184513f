/// What an operator orders about devices: `devices list`, `show`, `confirm`, `set`, `revoke`,
/// `forget`, `rotate-token-keys`.
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import Time

enum DeviceOrders {
  static func id(_ arguments: OrderArguments) throws(FormError) -> DeviceID {
    guard let id = DeviceID(try arguments.text("id")) else { throw FormError("id") }
    return id
  }

  static func subject(_ arguments: OrderArguments) throws(FormError) -> Subject? {
    guard let text = try arguments.optionalText("subject") else { return nil }
    guard let subject = Subject(text) else { throw FormError("subject") }
    return subject
  }

  /// One that is there already, under whatever rules it came in.
  static func knownSubject(_ arguments: OrderArguments) throws(FormError) -> Subject? {
    guard let text = try arguments.optionalText("subject") else { return nil }
    guard let subject = Subject(stored: text) else { throw FormError("subject") }
    return subject
  }
}

/// A page, in the order of their making; the next one begins after the last of it.
package struct ListDevices: RegistryCall {
  package static let longestPage = 1000

  private let subject: Subject?
  private let state: DeviceRecord.State?
  private let after: DeviceID?
  private let limit: Int

  init(_ arguments: OrderArguments) throws(FormError) {
    subject = try DeviceOrders.knownSubject(arguments)
    let state = try arguments.optionalText("state")
    self.state = state.flatMap { word in DeviceRecord.State.allCases.first { $0.word.isSameText(as: word) } }
    if state != nil, self.state == nil { throw FormError("state") }
    let after = try arguments.optionalText("after")
    self.after = after.flatMap { DeviceID($0) }
    if after != nil, self.after == nil { throw FormError("after") }
    let limit = try arguments.optionalInteger("limit") ?? Int64(Self.longestPage)
    guard (1...Int64(Self.longestPage)).contains(limit) else { throw FormError("limit") }
    self.limit = Int(limit)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let devices = try transaction.store.devices(of: subject, in: state, after: after, limit: limit)
    return .reply(.value(devices.map(DeviceForOperator.init)))
  }
}

package struct ShowDevice: RegistryCall {
  let id: DeviceID

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    .reply(.value(DeviceForOperator(try transaction.device(id))))
  }
}

/// Makes a device active; it may be given to a subject by the way.
package struct ConfirmDevice: RegistryCall {
  private let id: DeviceID
  private let subject: Subject?

  init(_ arguments: OrderArguments) throws(FormError) {
    id = try DeviceOrders.id(arguments)
    subject = try DeviceOrders.subject(arguments)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.device(id)
    if device.state != .active {
      try transaction.requireNoPairing(of: id)
      try transaction.activate(&device, subject: subject)
    } else if let subject {
      try transaction.assign(&device, to: subject)
    }
    return .reply(.value(DeviceForOperator(device)))
  }
}

package struct AssignDevice: RegistryCall {
  private let id: DeviceID
  private let subject: Subject

  init(_ arguments: OrderArguments) throws(FormError) {
    id = try DeviceOrders.id(arguments)
    guard let subject = try DeviceOrders.subject(arguments) else { throw FormError("subject") }
    self.subject = subject
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.device(id)
    try transaction.assign(&device, to: subject)
    return .reply(.value(DeviceForOperator(device)))
  }
}

extension Transaction {
  /// One that is being paired has digits to show: without them nobody knows that it is the phone which he has seen.
  fileprivate func requireNoPairing(of device: DeviceID) throws(CallFailure) {
    let pairings = try store.pairings(of: device)
    if pairings.contains(where: \.state.isOpen) { throw .refused(.notPending, "device_in_pairing") }
  }

  mutating func assign(_ device: inout DeviceRecord, to subject: Subject) throws(CallFailure) {
    guard device.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    if device.subject == subject { return }
    if device.state == .active { try requireRoom(for: subject) }
    device.subject = subject
    try keep(device)
    announceStanding(of: device)
    // What it said, it said for another.
    try withdrawVotes(of: device.id)
    try record(.deviceAssigned, [.device(device.id)] + device.belonging)
  }
}

package struct RenameDevice: RegistryCall {
  private let id: DeviceID
  private let name: DeviceName

  init(_ arguments: OrderArguments) throws(FormError) {
    id = try DeviceOrders.id(arguments)
    guard let name = DeviceName(try arguments.text("name")) else { throw FormError("name") }
    self.name = name
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.device(id)
    try requireDifference(from: device, transaction)
    device.name = name
    try transaction.keep(device)
    try transaction.record(.deviceRenamed, .device(id))
    return .reply(.value(DeviceForOperator(device)))
  }
}

extension RenameDevice {
  /// Phones choose their names, and two of one kind may have the same; what an operator calls one tells it from the others.
  fileprivate func requireDifference(from device: DeviceRecord, _ transaction: Transaction)
    throws(CallFailure)
  {
    guard let subject = device.subject else { return }
    let devices = try transaction.store.activeDevices(of: subject)
    let alike = devices.first { $0.id != device.id && $0.name?.text.looksLike(name.text) == true }
    guard let alike else { return }
    throw .refused(
      RegistryRefusal(
        .badRequest, "device_name_alike",
        says:
          "\(subject.name) has a device of that name, or one that looks like it (\(alike.id.text)): choose "
          + "another"))
  }
}

package struct RevokeDevice: RegistryCall {
  let id: DeviceID

  package var urgency: Urgency { .revocation }
  package var immediate: [RegistryEffect] { [.deviceRevoked(id)] }
  package var revokes: String { "device \(id.text)" }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.device(id)
    if device.state != .revoked { try transaction.revoke(&device) }
    return .reply(.value(DeviceForOperator(device)))
  }
}

/// What the device lacks, or what of it is named, is passed over until then; a time that has passed ends an exception.
package struct ExceptDevice: RegistryCall {
  private let id: DeviceID
  private let exception: DeviceRecord.Exception

  init(_ arguments: OrderArguments) throws(FormError) {
    id = try DeviceOrders.id(arguments)
    guard let until = UnixSeconds(try arguments.integer("until")) else { throw FormError("until") }
    let reason = try arguments.text("reason")
    guard (1...128).contains(reason.utf8.count), ShownText.isClean(reason) else { throw FormError("reason") }
    var lacks = DeviceLacks.all
    if let words = try arguments.optionalTexts("lacks") {
      guard let named = DeviceLacks(words: words) else { throw FormError("lacks") }
      lacks = named
    }
    exception = DeviceRecord.Exception(reason: reason, until: UnixTime(until), lacks: lacks)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.device(id)
    guard device.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    device.exception = exception.until > transaction.now ? exception : nil
    try transaction.keep(device)
    var row: [AuditEntry.Member] = [.device(id), .until(exception.until), .reason(exception.reason)]
    if exception.lacks != .all {
      row.append(.word("lacks", exception.lacks.words.joined(separator: " ")))
    }
    try transaction.record(.deviceExcepted, row)
    return .reply(.value(DeviceForOperator(device)))
  }
}
