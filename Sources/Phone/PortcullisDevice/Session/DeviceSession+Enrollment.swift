/// How a session comes to belong to a gate, shows what it is, and changes its keys.
public import PortcullisClient
public import PortcullisProtocol

extension DeviceSession {
  /// A code is good for five minutes; the operator may type its digits in the last second.
  private static let pairingTime = 330.0

  /// Makes keys, and belongs to the gate when its operator has typed the digits. Goes on while the connection breaks, for as
  /// long as the code is good.
  /// - Parameters:
  ///   - code: what the camera has read.
  ///   - deviceName: what the phone calls itself.
  ///   - platform: what the phone is.
  ///   - withApprovalKey: whether it is to have a vote.
  ///   - digits: is given what the person reads to the operator.
  public func pair(
    _ code: PairingCode, as deviceName: DeviceName, platform: DevicePlatform = .ios,
    withApprovalKey: Bool = true,
    digits: @escaping @Sendable (PairingDigits) -> Void
  ) async throws(DeviceFailure) {
    try await alone { () async throws(DeviceFailure) in
      let new = try await begin(
        at: code.uri.host.lowercased(), code.uri.port, Pins(code.uri.pin), platform, deviceName,
        withApprovalKey)
      guard let secretPart = Octets32((0..<32).map { _ in UInt8.random(in: .min ... .max) }) else { return }
      let machine = PairingMachine(
        code.uri, try await points(of: new.keys), name: deviceName, platform: platform,
        secretPart: secretPart,
        vouches: voucher != nil)
      let outcome = try await run(
        machine,
        MachineContext(
          keys: new.keys, reason: deviceName.text, show: digits, deadline: clock.now() + Self.pairingTime))
      let appKeyID = await voucher?.appKeyID
      try await remember { record in
        record.device = outcome.device
        record.server = outcome.server
        record.pins = outcome.pins
        record.appKeyID = appKeyID
      }
      stand(.active(level: nil, userVerification: nil, subject: nil))
    }
  }

  /// Enrols without a code; an operator confirms the phone where its evidence is not enough. A phone that has a gate is
  /// enrolled again under its keys, which gives it the same id.
  /// - Parameters:
  ///   - host: the gate's name or address, without brackets.
  ///   - port: the gate's port.
  ///   - trust: by which pins a new phone knows the gate; `system`: as the transport trusts.
  ///   - deviceName: what a new phone calls itself.
  ///   - platform: what a new phone is.
  ///   - withApprovalKey: whether a new phone is to have a vote.
  @discardableResult
  public func enroll(
    at host: String, port: UInt16 = 443, trust: GateTrust = .system, as deviceName: DeviceName?,
    platform: DevicePlatform = .ios, withApprovalKey: Bool = true
  ) async throws(DeviceFailure) -> DeviceAssurance {
    try await alone { () async throws(DeviceFailure) in
      let record: DeviceRecord
      if let known = try await loaded() {
        record = known
      } else {
        var pins: Pins?
        if case .pins(let source) = trust { pins = source.pins }
        record = try await begin(at: host, port, pins, platform, deviceName, withApprovalKey)
      }
      let machine = EnrollmentMachine(
        try await points(of: record.keys), platform: record.platform, name: record.name,
        vouches: voucher != nil,
        isKnown: await isAppKnown(record))
      let outcome = try await run(
        machine, MachineContext(keys: record.keys, reason: record.name?.text ?? ""))
      let appKeyID = await voucher?.appKeyID
      try await remember { record in
        record.device = outcome.device
        record.server = outcome.server
        record.pins = outcome.pins
        record.appKeyID = appKeyID ?? record.appKeyID
      }
      token = outcome.token ?? token
      stand(outcome.assurance)
      return outcome.assurance
    }
  }

  /// Shows that the app is still the genuine one.
  @discardableResult
  public func attest() async throws(DeviceFailure) -> DeviceAssurance {
    try await alone { () async throws(DeviceFailure) in try await attestNow() }
  }

  func attestNow() async throws(DeviceFailure) -> DeviceAssurance {
    let (record, device, _) = try await paired()
    let machine = AttestationMachine(
      device, try await points(of: record.keys), isKnown: await isAppKnown(record))
    let outcome = try await run(machine, MachineContext(keys: record.keys))
    if let appKeyID = await voucher?.appKeyID { try await remember { $0.appKeyID = appKeyID } }
    token = outcome.token ?? token
    return outcome.assurance
  }

  /// New keys in the place of the old ones, which stay until the gate has the new ones. When an answer was lost, the next call
  /// finds out which ones it has.
  /// - Parameter approvalKey: whether there is to be an approval key.
  /// - Returns: nil where an earlier call had done it.
  @discardableResult
  public func rotate(approvalKey: Bool = true) async throws(DeviceFailure) -> DeviceAssurance? {
    try await alone { () async throws(DeviceFailure) in
      let (record, device, _) = try await paired()
      var newPoints: DevicePoints?
      if let names = record.newKeys { newPoints = try await points(of: names) }
      let machine = RotationMachine(
        device, newPoints: newPoints, withApproval: approvalKey, vouches: voucher != nil,
        isKnown: await isAppKnown(record))
      switch try await run(machine, MachineContext(keys: record.keys, newKeys: record.newKeys)) {
      case .rotated(let assurance, let token, let pins):
        try await takeNewKeys(token, pins)
        return assurance
      case .wasRotated(let token, let pins):
        try await takeNewKeys(token, pins)
        return nil
      }
    }
  }

  private func takeNewKeys(_ token: DeviceToken?, _ pins: Pins?) async throws(DeviceFailure) {
    let old = record?.keys
    try await remember { record in
      if let new = record.newKeys { record.keys = new }
      record.newKeys = nil
      record.pins = pins ?? record.pins
    }
    self.token = token
    await remove(old)
  }

  /// Forgets the gate here, and nowhere else: the operator revokes the phone there.
  public func forget() async throws(DeviceFailure) {
    try await alone { () async throws(DeviceFailure) in
      stopPolls()
      let old = try await loaded()
      try await keep(nil)
      await remove(old?.keys)
      await remove(old?.newKeys)
      token = nil
      stand(.none)
    }
  }

  // MARK: Parts of it

  /// A phone that no gate knows yet, with keys of its own. One that belongs to a gate is not written over.
  private func begin(
    at host: String, _ port: UInt16, _ pins: Pins?, _ platform: DevicePlatform, _ deviceName: DeviceName?,
    _ withApproval: Bool
  ) async throws(DeviceFailure) -> DeviceRecord {
    let unused = try await loaded()
    guard unused?.device == nil else {
      throw DeviceFailure(.alreadyPaired, "this phone belongs to a gate already")
    }
    let names = try await makeKeys(withApproval: withApproval)
    var new = DeviceRecord(host: host, port: port, platform: platform, name: deviceName, keys: names)
    new.pins = pins
    try await keep(new)
    // What a pairing that came to nothing has left.
    await remove(unused?.keys)
    return new
  }

  private func isAppKnown(_ record: DeviceRecord) async -> Bool {
    guard let known = record.appKeyID else { return false }
    return await voucher?.appKeyID == known
  }

  private func stand(_ assurance: DeviceAssurance) {
    let (level, verification) = (assurance.level, assurance.userVerification)
    stand(
      assurance.status == "pending"
        ? .pending(level: level, userVerification: verification)
        : .active(level: level, userVerification: verification, subject: nil))
  }
}
