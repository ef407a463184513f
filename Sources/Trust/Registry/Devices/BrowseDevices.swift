/// What the console shows of devices: pages of them, found by name too; what some are called; and one with the pairing that
/// waits for its digits (docs/console.md, "Console").
internal import Bytes
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System

/// In the order of their making, from behind one on; and phones that show digits.
struct BrowseDevices: RegistryCall {
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

  func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    var next = self
    let rows = try desk.storing { (store) throws(StoreFailure) in
      try store.devices(of: subject, in: state, after: after, limit: text.isEmpty ? limit + 1 : Self.piece)
    }
    for device in rows {
      if next.found.count == limit { return .reply(.answered(try next.answer(goesOn: true, &desk))) }
      next.after = device.id
      next.looked += 1
      if isWanted(device) { next.found.append(device) }
    }
    if text.isEmpty || rows.count < Self.piece {
      return .reply(.answered(try next.answer(goesOn: false, &desk)))
    }
    if next.looked >= Self.most { return .reply(.answered(try next.answer(goesOn: true, &desk))) }
    return .goOn(next)
  }

  private func isWanted(_ device: DeviceRecord) -> Bool {
    text.isEmpty || device.id.text.lowercased().hasPrefix(text)
      || device.name?.text.lowercased().contains(text) == true
  }

  private func answer(goesOn: Bool, _ desk: inout Desk) throws(CallFailure) -> [UInt8] {
    var json = DeviceAnswer()
    json.put("devices", raw: found.jsonForOperator)
    if goesOn { json.put("next", after?.text) }
    return json.bytes()
  }
}

/// Devices by their ids, or by the App Attest keys that vouch for them; those that there are not are left out.
struct NameDevices: RegistryCall {
  static let most = 500

  private let ids: [DeviceID]
  private let keys: [KeyIdentifier]

  init(_ object: JSONObject) throws(FormError) {
    let arguments = try OrderArguments(object, "ids", "keys")
    ids = try arguments.texts("ids").compactMap { DeviceID($0) }
    keys = try arguments.texts("keys").compactMap { KeyIdentifier(base64: $0) }
    if ids.count + keys.count > Self.most { throw FormError("ids") }
  }

  func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let found = try desk.storing { (store) throws(StoreFailure) in
      var found: [DeviceRecord] = []
      for id in ids { if let device = try store.device(id) { found.append(device) } }
      for key in keys { if let device = try store.holder(of: key) { found.append(device) } }
      return found
    }
    return .reply(.answered(found.jsonForOperator))
  }
}

/// One device, the pairing that waits for the digits which it shows, and whether it is being paired at all.
struct LookAtDevice: RegistryCall {
  let id: DeviceID

  func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let device = try desk.device(id)
    let pairings = try desk.storing { (store) throws(StoreFailure) in try store.pairings(of: id) }
    var json = DeviceAnswer()
    json.put("device", raw: device.jsonForOperator)
    if let pairing = pairings.first(where: { $0.state == .revealed && $0.expiresAt > desk.now }) {
      json.put("pairing", raw: pairing.jsonForOperator(device))
    }
    // Also one whose phone has not come to its digits yet, or whose time is over and nobody has said so to it.
    json.put("pairs_until", pairings.first { $0.state.isOpen }?.expiresAt)
    return .reply(.answered(json.bytes()))
  }
}

/// Pairings whose phones show digits, the first to end first.
struct BrowsePairings: RegistryCall {
  private static let most = 200

  func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let now = desk.now
    let open = try desk.storing { (store) throws(StoreFailure) in
      try store.openPairings(of: nil, endingBy: UnixTime(milliseconds: .max), limit: Self.most)
        .filter { $0.state == .revealed && $0.expiresAt > now }
        .map { pairing throws(StoreFailure) in
          (
            pairing,
            try pairing.answer.map { answer throws(StoreFailure) in try store.device(answer.device) } ?? nil
          )
        }
    }
    var json = JSONWriter()
    json.beginArray()
    for (pairing, device) in open { json.raw(pairing.jsonForOperator(device)) }
    json.endArray()
    return .reply(.answered(json.bytes))
  }
}

extension PairingRecord {
  fileprivate func jsonForOperator(_ device: DeviceRecord?) -> [UInt8] {
    var json = DeviceAnswer()
    json.put("pairing_id", id.text)
    json.put("device_id", device?.id.text)
    // The phone's own: what it is to be called does not tell it from another one.
    json.put("device_name", device?.name?.text)
    json.put("subject", subject?.name)
    json.put("expires_at", expiresAt)
    json.put("tries_left", Int64(max(0, Self.digitsToBurn - wrongDigits)))
    return json.bytes()
  }
}

extension DeviceRecord {
  fileprivate var jsonForOperator: [UInt8] {
    var answer = DeviceAnswer()
    answer.putAllForOperator(self)
    return answer.bytes()
  }
}

extension [DeviceRecord] {
  fileprivate var jsonForOperator: [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for device in self { json.raw(device.jsonForOperator) }
    json.endArray()
    return json.bytes
  }
}
