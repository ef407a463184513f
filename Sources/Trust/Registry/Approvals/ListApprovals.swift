/// What waits for a phone's vote: `GET /approvals`.
internal import Bytes
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol

package struct ListApprovals: RegistryCall {
  private let token: String
  /// The place behind which the phone has seen nothing; 0 for one that was never given.
  private let after: Int64

  package init(bearer token: String, after cursor: String?) {
    self.token = token
    after = Form.place(behind: cursor)
  }

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let device = try desk.activeDevice(bearer: token)
    try desk.endOverdueApprovals()
    var place = after
    let items = try desk.storing { (store) throws(StoreFailure) in
      // From another life of the store.
      if place > 0, try place > store.lastPlace() { place = 0 }
      return try store.openApprovals(for: device.id, after: place)
    }
    let time = UnixSeconds(desk.now)
    let shown = items.filter {
      $0.approval.expiresAt > time
        && device.isApprover($0.approval.terms, of: $0.approval.subject, requester: $0.approval.requester)
    }
    let answer = Reply.answered(Self.json(shown.map(\.approval), cursor: items.last?.place ?? place))
    guard shown.isEmpty, desk.wait != nil else { return .reply(answer) }
    return .wait(.approvals(of: device.id), by: .device(device.id), otherwise: answer)
  }

  private static func json(_ approvals: [ApprovalRecord], cursor: Int64) -> [UInt8] {
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
    writer.value(String(cursor))
    writer.endObject()
    return writer.bytes
  }
}
