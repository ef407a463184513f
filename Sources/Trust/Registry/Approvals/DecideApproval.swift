/// A vote: `POST /approvals/{id}/decision`.
internal import ApprovalPolicy
internal import Bytes
package import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System

package struct DecideApproval: RegistryCall {
  private let token: String
  private let approval: ApprovalID
  private let device: DeviceID
  private let vote: Vote
  private let issuedAt: UnixSeconds
  private let signature: DeviceSignature

  package var urgency: Urgency { .vote }

  package init(bearer token: String, approval: ApprovalID, form: Form) throws(FormError) {
    self.token = token
    self.approval = approval
    device = try form.identifier("device_id")
    let decision = try form.text("decision") { Decision(rawValue: $0) }
    let code = try form.optionalText("match_code") { MatchCode($0) } ?? .none
    guard let vote = Vote(decision, matchCode: code) else { throw FormError("match_code") }
    self.vote = vote
    issuedAt = try form.required("issued_at") { $0.integer.flatMap { UnixSeconds($0) } }
    signature = try form.signature("signature")
  }

  /// In this order: whether the request is open; whether the device may vote; the signature, over the code that was
  /// sent; the code. So a wrong code counts only under a good signature.
  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let voter = try transaction.activeDevice(bearer: token)
    guard voter.id == device else { throw .refused(.tokenRejected, "approval_device") }
    var approval = try transaction.approval(approval, shownTo: voter)
    guard approval.state == .pending else { throw .refused(.notPending, "approval_state") }
    let votes = try transaction.votes(on: approval)
    guard !votes.contains(where: { $0.device == voter.id }) else {
      throw .refused(.alreadyVoted, "approval_vote")
    }
    let record = try admitted(voter, approval, transaction)
    guard approval.isIssued(vote.matchCode) || vote.decision != .approve else {
      return .reply(.refused(try transaction.countWrongCode(of: voter, on: &approval)))
    }
    try transaction.store.insert(record, on: approval.id)
    try transaction.store.close(approval.id, for: voter.id)
    try transaction.announceOpen(for: voter, isNews: false)
    switch vote.decision {
    case .approve: try transaction.settle(&approval, votes + [record], voter: voter)
    case .deny: try transaction.end(&approval, as: .denied, isTold: true)
    case .report:
      try transaction.end(&approval, as: .reported, isTold: true)
      try transaction.bar(approval, for: record.subject)
    }
    try transaction.record(.approvalVoted, approval.audited + record.audited + [approval.standing])
    return .reply(.answered(try transaction.standing(of: approval)))
  }

  /// The vote as it will be kept, if the device may give it and has signed it.
  private func admitted(
    _ voter: DeviceRecord, _ approval: ApprovalRecord, _ transaction: Transaction
  ) throws(CallFailure) -> VoteRecord {
    guard let key = voter.keys.approval, let subject = voter.subject, voter.canDecide(approval.terms) else {
      throw .refused(.levelTooLow, "approval_level")
    }
    // To say no, nobody has to be anywhere.
    if approval.terms.needsPresence, vote.decision == .approve, !transaction.isNear(voter) {
      throw .refused(.presenceRequired, "approval_presence")
    }
    try transaction.requireTimely(issuedAt, "approval_issued_at")
    let message = DeviceMessage.approval(
      server: transaction.server, request: approval.id, device: voter.id, vote: vote,
      summaryHash: approval.summaryHash, issuedAt: issuedAt, expiresAt: approval.expiresAt)
    guard signature.isValid(for: message, by: key, verifier: transaction.verifier) else {
      throw .refused(.signatureRejected, "approval_signature")
    }
    return VoteRecord(
      device: voter.id, subject: subject, key: key.point, vote: vote, issuedAt: issuedAt,
      level: voter.voteLevel,
      verification: voter.verification, signature: signature)
  }
}

extension VoteRecord {
  fileprivate var audited: [AuditEntry.Member] {
    [.device(device), .decision(vote.decision)]
  }
}

extension ApprovalRecord {
  /// Whether it is the code that the requester was told; in constant time.
  fileprivate func isIssued(_ code: MatchCode) -> Bool {
    equalInConstantTime(Array(matchCode.text.utf8).span, Array(code.text.utf8).span)
  }
}

extension Transaction {
  /// The refusal is an answer and not a failure, so that the try stays counted.
  fileprivate mutating func countWrongCode(
    of device: DeviceRecord, on approval: inout ApprovalRecord
  ) throws(CallFailure) -> RegistryRefusal {
    let id = approval.id
    let tries = try store.countTry(of: device.id, on: id)
    try record(.approvalCodeWrong, approval.audited + [.device(device.id), .count(tries)])
    if tries >= ApprovalLimits.wrongCodes { try end(&approval, as: .denied) }
    return RegistryRefusal(.codeRejected, "approval_code")
  }

  fileprivate mutating func bar(_ approval: ApprovalRecord, for subject: Subject) throws(CallFailure) {
    let bar = BarRecord(
      service: approval.service, requester: approval.requester, subject: subject, at: UnixSeconds(now))
    try store.insert(bar)
    try record(.requesterBarred, [.approval(approval.id), .subject(subject)])
    if let service = approval.service { try countReport(of: service, by: subject) }
  }

  /// A service invents its requesters: what is reported again and again is the service.
  private mutating func countReport(of service: ServiceID, by subject: Subject) throws(CallFailure) {
    let now = UnixSeconds(now)
    let count = try store.countReport(
      of: service, by: subject, at: now, since: now + -ApprovalLimits.reportsCount)
    guard count >= ApprovalLimits.reportsThatBar else { return }
    let bars = try store.bars(of: service, for: subject)
    if bars.contains(where: { $0.requester == nil }) { return }
    try store.insert(BarRecord(service: service, requester: nil, subject: subject, at: now))
    try record(.serviceBarred, [.service(service), .subject(subject), .count(count)])
    let name = try serviceNames().name(of: service)
    announce(.serviceBarred(name, reports: count))
  }

  /// What a voter is told.
  func standing(of approval: ApprovalRecord) throws(CallFailure) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("state")
    writer.value(approval.state.word)
    writer.name("votes_needed")
    writer.value(approval.state == .pending ? try votesNeeded(for: approval) : 0)
    writer.endObject()
    return writer.bytes
  }
}
