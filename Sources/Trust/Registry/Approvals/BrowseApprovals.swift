/// What the console shows of approvals: pages of them with how many have said yes, and one with all that an operator has to
/// know before he says a word himself (docs/console.md, "Console").
internal import ApprovalPolicy
package import DeviceWire
package import JSON
internal import PortcullisProtocol

/// The newest first, from behind one on: pending ones, or those that are over.
package struct BrowseApprovals: AnsweringCall {
  package typealias Answer = [ApprovalStanding]
  private let arePending: Bool
  private let after: ApprovalID?
  private let limit: Int

  /// - Parameter limit: 1 to 1000.
  package init(arePending: Bool, after: ApprovalID?, limit: Int) {
    self.arePending = arePending
    self.after = after
    self.limit = min(max(1, limit), 1000)
  }

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

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try transaction.endOverdueApprovals()
    let found = try transaction.store.approvals(arePending: arePending, after: after, limit: limit)
    var shown: [ApprovalStanding] = []
    for approval in found where transaction.maySee(approval) {
      shown.append(try transaction.standing(ofRow: approval))
    }
    return .reply(.value(shown))
  }
}

package struct LookAtApproval: AnsweringCall {
  package typealias Answer = ApprovalLook
  private let approval: ApprovalID

  package init(approval: ApprovalID) {
    self.approval = approval
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    guard let found = try transaction.approval(approval), transaction.maySee(found) else {
      throw .refused(.notFound, "approval_id")
    }
    var votes: [ApprovalLook.CastVote] = []
    for vote in try transaction.votes(on: found) {
      let device = try transaction.store.device(vote.device)
      votes.append(ApprovalLook.CastVote(vote: vote, deviceName: device?.name))
    }
    let lease = try transaction.lease(of: found).map { lease in
      ApprovalLook.Lease(
        expiresAt: lease.expiresAt,
        usesLeft: lease.isOver(at: UnixSeconds(transaction.now)) ? 0 : lease.usesLeft)
    }
    return .reply(
      .value(
        ApprovalLook(
          standing: try transaction.standing(ofRow: found),
          summary: try? Summary(canonical: found.summary.span),
          votes: votes, lease: lease, ownWord: transaction.ownWord(on: found))))
  }
}

/// An approval, by whose name it was asked for, and how many have said yes.
package struct ApprovalStanding: RegistryAnswer {
  package let approval: ApprovalRecord
  /// The service's name; `host` for programs of the host.
  package let service: String
  /// Devices that have approved.
  package let approvals: Int

  /// How many have to; none where only an operator is asked.
  package var quorum: Int { approval.terms.factors.contains(.device) ? approval.terms.quorum : 0 }

  package func write(to json: inout JSONWriter) {
    json.beginObject()
    writeMembers(to: &json)
    json.endObject()
  }

  fileprivate func writeMembers(to json: inout JSONWriter) {
    json.member("id", approval.id.text)
    json.member("state", approval.state.word)
    json.member("operation", approval.operation ?? "")
    json.member("service", service)
    json.member("requester", approval.requester)
    json.member("subject", approval.subject?.name)
    json.member("created_at", approval.createdAt.value)
    json.member("expires_at", approval.expiresAt.value)
    if let ended = approval.endedAt { json.member("decided_at", ended.value) }
    json.member("approvals", Int64(approvals))
    json.member("quorum", Int64(quorum))
  }
}

/// An approval with all that an operator has to know before he says a word himself.
package struct ApprovalLook: RegistryAnswer {
  package struct CastVote: Sendable {
    package let vote: VoteRecord
    /// What the device is called now.
    package let deviceName: DeviceName?
  }

  package struct Lease: Sendable {
    package let expiresAt: UnixSeconds
    /// 0 also when its time is over.
    package let usesLeft: Int
  }

  /// Whether the operator who looks could confirm it, by the rules that `approve` goes by.
  package enum OwnWord: String, Sendable {
    case over
    case notAskedFor = "not_asked_for"
    case noApprover = "no_approver"
    case ownRequest = "own_request"
    case awaited
    case given
  }

  package let standing: ApprovalStanding
  /// Nil where the stored text is none.
  package let summary: Summary?
  package let votes: [CastVote]
  package let lease: Lease?
  package let ownWord: OwnWord

  private var approval: ApprovalRecord { standing.approval }

  package func write(to json: inout JSONWriter) {
    json.beginObject()
    standing.writeMembers(to: &json)
    writeTerms(to: &json)
    if let summary { write(summary, to: &json) }
    if approval.lacksDevices { json.member("reason", "no_device") }
    json.name("votes")
    json.beginArray()
    for cast in votes { write(cast, to: &json) }
    json.endArray()
    if let user = approval.operatorUser { json.member("operator", Int64(user)) }
    if let lease {
      json.name("lease")
      json.beginObject()
      json.member("expires_at", lease.expiresAt.value)
      json.member("uses_left", Int64(lease.usesLeft))
      json.endObject()
    }
    json.member("own_word", ownWord.rawValue)
    json.endObject()
  }

  private func writeTerms(to json: inout JSONWriter) {
    json.member("level", approval.terms.level.rawValue)
    json.member("uv", approval.terms.userVerification.rawValue)
    json.name("factors")
    json.beginArray()
    for word in approval.terms.factors.words { json.value(word) }
    json.endArray()
  }

  private func write(_ summary: Summary, to json: inout JSONWriter) {
    json.member("text", summary.text)
    json.member("requester_name", summary.requester.name)
    json.member("requester_address", summary.requester.address)
    json.name("target")
    json.beginArray()
    for member in summary.target.members {
      json.beginObject()
      json.member("name", member.name)
      json.member("value", member.value)
      json.endObject()
    }
    json.endArray()
  }

  private func write(_ cast: CastVote, to json: inout JSONWriter) {
    json.beginObject()
    json.member("device_id", cast.vote.device.text)
    json.member("device_name", cast.deviceName?.text)
    json.member("decision", cast.vote.vote.decision.rawValue)
    json.member("at", cast.vote.issuedAt.value)
    json.member("level", cast.vote.level.rawValue)
    json.member("uv", cast.vote.verification.rawValue)
    json.endObject()
  }
}

extension Transaction {
  fileprivate func standing(ofRow approval: ApprovalRecord) throws(CallFailure) -> ApprovalStanding {
    ApprovalStanding(
      approval: approval, service: try serviceNames().name(of: approval.service),
      approvals: try votes(on: approval).count { $0.vote.decision == .approve })
  }

  fileprivate func ownWord(on approval: ApprovalRecord) -> ApprovalLook.OwnWord {
    if approval.state != .pending { return .over }
    guard approval.terms.factors.contains(.operator) else { return .notAskedFor }
    guard let user, settings.approvalOperators.contains(user) else { return .noApprover }
    if isRequester(user, of: approval) { return .ownRequest }
    return approval.operatorUser == nil ? .awaited : .given
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
