/// What waits for a phone's vote: `GET /approvals`.
internal import Bytes
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol

package struct ListApprovals: RegistryCall {
  private let token: String
  private let cursor: ApprovalCursor?

  package init(bearer token: String, after cursor: String?) {
    self.token = token
    self.cursor = cursor.flatMap { ApprovalCursor($0) }
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let device = try transaction.activeDevice(bearer: token)
    try transaction.endOverdueApprovals()
    // The place behind which the phone has seen nothing.
    var place = cursor?.place(for: device) ?? 0
    // From another life of the store.
    if place > 0, try place > transaction.store.lastPlace() { place = 0 }
    let items = try transaction.store.openApprovals(for: device.id, after: place)
    let time = UnixSeconds(transaction.now)
    let shown = items.filter {
      $0.approval.expiresAt > time
        && device.isApprover($0.approval.terms, of: $0.approval.subject, requesters: $0.approval.requesters)
    }
    let next = ApprovalCursor(device, place: items.last?.place ?? place)
    let answer = Reply.answered(Self.json(shown.map(\.approval), cursor: next))
    guard shown.isEmpty, transaction.wait != nil else { return .reply(answer) }
    return .wait(.approvals(of: device.id), by: .device(device.id), otherwise: answer)
  }

  private static func json(_ approvals: [ApprovalRecord], cursor: ApprovalCursor) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for approval in approvals {
      writer.beginObject()
      writer.name("id")
      writer.value(approval.id.text)
      writer.name("summary")
      writer.value(Base64.encodeURL(approval.summary.span))
      writer.name("match_digits")
      writer.value(approval.matchCode.text.utf8.count)
      writer.name("created_at")
      writer.value(approval.createdAt.value)
      writer.name("expires_at")
      writer.value(approval.expiresAt.value)
      writer.endObject()
    }
    writer.endArray()
    writer.name("cursor")
    writer.value(cursor.description)
    writer.endObject()
    return writer.bytes
  }
}

/// What a phone sends back of the answer before, in decimal digits: what it has seen by its present keys, as with other
/// keys it is asked again.
private struct ApprovalCursor: CustomStringConvertible {
  /// Of the largest place.
  private static let placeDigits = 19

  private let series: Int64
  private let place: Int64

  init(_ device: DeviceRecord, place: Int64) {
    series = Int64(device.tokenSeries)
    self.place = place
  }

  /// Nil for what was never given, which is as none.
  init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count > Self.placeDigits, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    let split = digits.count - Self.placeDigits
    guard let series = Int64(String(decoding: digits[..<split], as: UTF8.self)),
      let place = Int64(String(decoding: digits[split...], as: UTF8.self))
    else { return nil }
    (self.series, self.place) = (series, place)
  }

  func place(for device: DeviceRecord) -> Int64 { series == Int64(device.tokenSeries) ? place : 0 }

  var description: String {
    let digits = String(place)
    return String(series) + String(repeating: "0", count: Self.placeDigits - digits.utf8.count) + digits
  }
}
