/// What the console shows of approvals: pages of them with how many have said yes, and one with all that an operator has to
/// know before he says a word himself (docs/console.md, "Console").
internal import ApprovalPolicy
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol

/// The newest first, from behind one on: pending ones, or those that are over.
struct BrowseApprovals: RegistryCall {
  private let arePending: Bool
  private let after: ApprovalID?
  private let limit: Int

  init(_ arguments: JSONObject) throws(FormError) {
    let arguments = try OrderArguments(arguments, "pending", "after", "limit")
    arePending = try arguments.optionalInteger("pending") ?? 0 != 0
    let after = try arguments.optionalText("after")
    self.after = after.flatMap { ApprovalID($0) }
    if after != nil, self.after == nil { throw FormError("after") }
    let limit = try arguments.integer("limit")
    guard (1...1000).contains(limit) else { throw FormError("limit") }
    self.limit = Int(limit)
  }

  func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    try desk.endOverdueApprovals()
    let found = try desk.storing { (store) throws(StoreFailure) in
      try store.approvals(arePending: arePending, after: after, limit: limit)
    }
    var writer = JSONWriter()
    writer.beginArray()
    for approval in found where desk.maySee(approval) {
      writer.beginObject()
      try desk.writeRow(of: approval, to: &writer)
      writer.endObject()
    }
    writer.endArray()
    return .reply(.answered(writer.bytes))
  }
}

struct LookAtApproval: RegistryCall {
  let approval: ApprovalID

  func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    guard let found = try desk.approval(approval), desk.maySee(found) else {
      throw .refused(.notFound, "approval_id")
    }
    var writer = JSONWriter()
    writer.beginObject()
    try desk.writeRow(of: found, to: &writer)
    writeSummary(of: found, to: &writer)
    if found.lacksDevices { writer.member("reason", "no_device") }
    writer.name("votes")
    writer.beginArray()
    for vote in try desk.votes(on: found) {
      writer.beginObject()
      writer.member("device_id", vote.device.text)
      let device = try desk.storing { (store) throws(StoreFailure) in try store.device(vote.device) }
      writer.member("device_name", device?.name?.text)
      writer.member("decision", vote.vote.decision.rawValue)
      writer.member("at", vote.issuedAt.value)
      writer.member("level", vote.level.rawValue)
      writer.member("uv", vote.verification.rawValue)
      writer.endObject()
    }
    writer.endArray()
    if let user = found.operatorUser { writer.member("operator", Int64(user)) }
    if let lease = try desk.lease(of: found) {
      writer.name("lease")
      writer.beginObject()
      writer.member("expires_at", lease.expiresAt.value)
      writer.member("uses_left", Int64(lease.isOver(at: UnixSeconds(desk.now)) ? 0 : lease.usesLeft))
      writer.endObject()
    }
    writer.member("own_word", desk.ownWord(on: found))
    writer.endObject()
    return .reply(.answered(writer.bytes))
  }

  private func writeSummary(of approval: ApprovalRecord, to writer: inout JSONWriter) {
    writer.member("level", approval.terms.level.rawValue)
    writer.member("uv", approval.terms.userVerification.rawValue)
    writer.name("factors")
    writer.beginArray()
    for word in approval.terms.factors.words { writer.value(word) }
    writer.endArray()
    guard let summary = try? Summary(canonical: approval.summary.span) else { return }
    writer.member("text", summary.text)
    writer.member("requester_name", summary.requester.name)
    writer.member("requester_address", summary.requester.address)
    writer.name("target")
    writer.beginArray()
    for member in summary.target.members {
      writer.beginObject()
      writer.member("name", member.name)
      writer.member("value", member.value)
      writer.endObject()
    }
    writer.endArray()
  }
}

extension Desk {
  fileprivate func writeRow(
    of approval: ApprovalRecord, to writer: inout JSONWriter
  ) throws(CallFailure) {
    let approving = try votes(on: approval).count { $0.vote.decision == .approve }
    writer.member("id", approval.id.text)
    writer.member("state", approval.state.word)
    writer.member("operation", approval.operation ?? "")
    writer.member("service", try serviceNames().name(of: approval.service))
    writer.member("requester", approval.requester)
    writer.member("subject", approval.subject?.name)
    writer.member("created_at", approval.createdAt.value)
    writer.member("expires_at", approval.expiresAt.value)
    if let ended = approval.endedAt { writer.member("decided_at", ended.value) }
    writer.member("approvals", Int64(approving))
    writer.member("quorum", Int64(approval.terms.factors.contains(.device) ? approval.terms.quorum : 0))
  }

  /// Whether whoever asks could confirm it, by the rules that `approve` goes by.
  fileprivate func ownWord(on approval: ApprovalRecord) -> String {
    if approval.state != .pending { return "over" }
    guard approval.terms.factors.contains(.operator) else { return "not_asked_for" }
    guard let user, settings.approvalOperators.contains(user) else { return "no_approver" }
    if isRequester(user, of: approval) { return "own_request" }
    return approval.operatorUser == nil ? "awaited" : "given"
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ text: String?) {
    guard let text else { return }
    self.name(name)
    value(text)
  }

  mutating func member(_ name: String, _ number: Int64) {
    self.name(name)
    value(number)
  }
}
