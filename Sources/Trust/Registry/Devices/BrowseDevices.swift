/// What the console shows of devices: pages of them, found by name too; what some are called; and one with the pairing that
/// waits for its digits (docs/console.md, "Console").
package import Bytes
package import DeviceWire
package import JSON
internal import PortcullisProtocol
package import Time

/// In the order of their making, from behind one on; and phones that show digits.
package struct BrowseDevices: AnsweringCall {
  package typealias Answer = DevicePage

  /// Rows that are looked at in one piece, and for one page: whoever looks for a name among a million is told where the
  /// search goes on.
  private static let piece = 1000
  private static let most = 100_000

  private let text: String
  private let subject: Subject?
  private let state: DeviceRecord.State?
  private let limit: Int
  private var after: DeviceID?
  private var found: [DeviceRecord] = []
  private var looked = 0

  /// - Parameters:
  ///   - text: a part of the name, or the beginning of the id.
  ///   - limit: 1 to 1000.
  package init(text: String, subject: Subject?, state: DeviceRecord.State?, after: DeviceID?, limit: Int) {
    self.text = text.lowercased()
    self.subject = subject
    self.state = state
    self.after = after
    self.limit = min(max(1, limit), Self.piece)
  }

  init(_ object: JSONObject) throws(FormError) {
    let arguments = try OrderArguments(object, "text", "subject", "state", "after", "limit")
    text = (try arguments.optionalText("text") ?? "").lowercased()
    subject = try DeviceOrders.subject(arguments)
    let state = try arguments.optionalText("state")
    self.state = state.flatMap { word in DeviceRecord.State.allCases.first { $0.word.isSameText(as: word) } }
    if state != nil, self.state == nil { throw FormError("state") }
    let after = try arguments.optionalText("after")
    self.after = after.flatMap { DeviceID($0) }
    if after != nil, self.after == nil { throw FormError("after") }
    let limit = try arguments.integer("limit")
    guard (1...Int64(Self.piece)).contains(limit) else { throw FormError("limit") }
    self.limit = Int(limit)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var next = self
    let rows = try transaction.store.devices(
      of: subject, in: state, after: after, limit: text.isEmpty ? limit + 1 : Self.piece)
    for device in rows {
      if next.found.count == limit { return .reply(.value(next.answer(goesOn: true))) }
      next.after = device.id
      next.looked += 1
      if isWanted(device) { next.found.append(device) }
    }
    if text.isEmpty || rows.count < Self.piece {
      return .reply(.value(next.answer(goesOn: false)))
    }
    if next.looked >= Self.most { return .reply(.value(next.answer(goesOn: true))) }
    return .goOn(next)
  }

  private func isWanted(_ device: DeviceRecord) -> Bool {
    text.isEmpty || device.id.text.lowercased().hasPrefix(text)
      || device.name?.text.lowercased().contains(text) == true
  }

  private func answer(goesOn: Bool) -> DevicePage { DevicePage(devices: found, next: goesOn ? after : nil) }
}

/// Devices in the order of their making, and where the next page begins, if there is one.
package struct DevicePage: RegistryAnswer {
  package let devices: [DeviceRecord]
  /// The last device that was looked at.
  package let next: DeviceID?

  package func write(to json: inout JSONWriter) {
    var answer = DeviceAnswer()
    answer.put("devices", raw: devices.map(DeviceForOperator.init).json)
    answer.put("next", next?.text)
    json.raw(answer.bytes())
  }
}

/// Devices by their ids, or by the App Attest keys that vouch for them; those that there are not are left out.
package struct NameDevices: AnsweringCall {
  package typealias Answer = [DeviceForOperator]
  package static let most = 500

  private let ids: [DeviceID]
  private let keys: [KeyIdentifier]

  /// - Parameters: at most `most` in all; more are left out.
  package init(ids: [DeviceID], keys: [KeyIdentifier]) {
    self.ids = Array(ids.prefix(Self.most))
    self.keys = Array(keys.prefix(Self.most - self.ids.count))
  }

  init(_ object: JSONObject) throws(FormError) {
    let arguments = try OrderArguments(object, "ids", "keys")
    ids = try arguments.texts("ids").compactMap { DeviceID($0) }
    keys = try arguments.texts("keys").compactMap { KeyIdentifier(base64: $0) }
    if ids.count + keys.count > Self.most { throw FormError("ids") }
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var found: [DeviceRecord] = []
    for id in ids { if let device = try transaction.store.device(id) { found.append(device) } }
    for key in keys { if let device = try transaction.store.holder(of: key) { found.append(device) } }
    return .reply(.value(found.map(DeviceForOperator.init)))
  }
}

/// One device, the pairing that waits for the digits which it shows, and whether it is being paired at all.
package struct LookAtDevice: AnsweringCall {
  package typealias Answer = DeviceLook
  private let id: DeviceID

  package init(id: DeviceID) {
    self.id = id
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let device = try transaction.device(id)
    let pairings = try transaction.store.pairings(of: id)
    let revealed = pairings.first { $0.state == .revealed && $0.expiresAt > transaction.now }
    return .reply(
      .value(
        DeviceLook(
          device: device, pairing: revealed.map { PairingForOperator(pairing: $0, device: device) },
          pairsUntil: pairings.first { $0.state.isOpen }?.expiresAt)))
  }
}

package struct DeviceLook: RegistryAnswer {
  package let device: DeviceRecord
  package let pairing: PairingForOperator?
  /// Also of a pairing whose phone has not come to its digits yet, or whose time is over and nobody has said so to it.
  package let pairsUntil: UnixTime?

  package func write(to json: inout JSONWriter) {
    var answer = DeviceAnswer()
    answer.put("device", raw: DeviceForOperator(device).json)
    if let pairing { answer.put("pairing", raw: pairing.json) }
    answer.put("pairs_until", pairsUntil)
    json.raw(answer.bytes())
  }
}

/// Pairings whose phones show digits, the first to end first.
package struct BrowsePairings: AnsweringCall {
  package typealias Answer = [PairingForOperator]
  private static let most = 200

  package init() {}

  init(_: OrderArguments) {}

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let now = transaction.now
    let open = try transaction.store.openPairings(
      of: nil, endingBy: UnixTime(milliseconds: .max), limit: Self.most
    )
    .filter { $0.state == .revealed && $0.expiresAt > now }
    .map { pairing throws(CallFailure) in
      PairingForOperator(
        pairing: pairing,
        device: try pairing.answer.map { answer throws(CallFailure) in
          try transaction.store.device(answer.device)
        }
          ?? nil)
    }
    return .reply(.value(open))
  }
}

/// A pairing as an operator sees it, with the phone that has answered it.
package struct PairingForOperator: RegistryAnswer {
  package let pairing: PairingRecord
  package let device: DeviceRecord?

  /// Before the pairing is over.
  package var triesLeft: Int { Int(max(0, PairingRecord.digitsToBurn - pairing.wrongDigits)) }

  package func write(to json: inout JSONWriter) {
    var answer = DeviceAnswer()
    answer.put("pairing_id", pairing.id.text)
    answer.put("device_id", device?.id.text)
    // The phone's own: what it is to be called does not tell it from another one.
    answer.put("device_name", device?.name?.text)
    answer.put("subject", pairing.subject?.name)
    answer.put("expires_at", pairing.expiresAt)
    answer.put("tries_left", Int64(triesLeft))
    json.raw(answer.bytes())
  }
}

/// A device as an operator sees it.
package struct DeviceForOperator: RegistryAnswer {
  package let device: DeviceRecord

  init(_ device: DeviceRecord) {
    self.device = device
  }

  package func write(to json: inout JSONWriter) {
    var answer = DeviceAnswer()
    answer.putAllForOperator(device)
    json.raw(answer.bytes())
  }
}
