/// What the pages of approvals show.
import Admin
import Bytes
import Control
import ApprovalPolicy
import DeviceWire
import Registry
import System
import Time

extension ConsolePages {
  /// So many pending ones are shown, which is as many as there can well be.
  private static let mostPending = 500

  func approvals(_ request: AdminRequest) throws(ConsoleFailure) -> ApprovalsPage {
    let after = request.query["after"]
    let pending = try browse(
      BrowseApprovals(arePending: true, after: nil, limit: Self.mostPending), request)
    let decided = try browse(
      BrowseApprovals(
        arePending: false, after: try after.map { text throws(ConsoleFailure) in try Self.approval(text) },
        limit: ListEnd.rowsPerPage + 1), request)
    let shown = Array(decided.prefix(ListEnd.rowsPerPage))
    return ApprovalsPage(
      pending: pending.sorted { $0.expiresAt < $1.expiresAt }, decided: shown,
      end: ListEnd(next: decided.count > shown.count ? shown.last?.id : nil, isFirst: after == nil))
  }

  private func browse(_ call: BrowseApprovals, _ request: AdminRequest) throws(ConsoleFailure)
    -> [ApprovalRow]
  {
    try ask(call, request).map { ApprovalRow($0) }
  }

  private static func approval(_ text: String) throws(ConsoleFailure) -> ApprovalID {
    guard let id = ApprovalID(text) else { throw .error(.notFound, "There is no such request.") }
    return id
  }

  func approval(
    _ id: String, _ request: AdminRequest, _ problems: [FieldProblem] = []
  ) throws(ConsoleFailure) -> ApprovalPage {
    let found = try ask(LookAtApproval(approval: try Self.approval(id)), request)
    let approval = found.standing.approval
    return ApprovalPage(
      approval: ApprovalRow(found.standing), text: found.summary?.text ?? "",
      target: found.summary?.target.members ?? [], requesterName: found.summary?.requester.name,
      requesterAddress: found.summary?.requester.address, level: approval.terms.level.rawValue,
      verification: approval.terms.userVerification.rawValue, factors: approval.terms.factors.words,
      reason: approval.lacksDevices ? "no_device" : nil, votes: found.votes.map { VoteRow($0) },
      operatorName: approval.operatorUser.map { name(ofUser: Int64($0)) },
      lease: found.lease.map { LeaseRow(expiresAt: UnixTime($0.expiresAt), usesLeft: $0.usesLeft) },
      ownWord: Self.ownWord(found.ownWord), problems: problems)
  }

  private static func ownWord(_ word: ApprovalLook.OwnWord) -> ApprovalPage.OwnWord {
    switch word {
    case .awaited: .isAwaited
    case .notAskedFor: .isNotAskedFor
    case .ownRequest: .isOwnRequest
    case .given: .isGiven
    case .over: .isOver
    case .noApprover: .isNoApprover
    }
  }
}

extension ApprovalRow {
  fileprivate init(_ standing: ApprovalStanding) {
    let approval = standing.approval
    self.init(
      id: approval.id.text, state: State(approval.state), operation: approval.operation ?? "",
      service: standing.service, requester: approval.requester, subject: approval.subject?.name,
      createdAt: UnixTime(approval.createdAt), expiresAt: UnixTime(approval.expiresAt),
      decidedAt: approval.endedAt.map { UnixTime($0) }, approvals: standing.approvals,
      quorum: standing.quorum,
      text: (try? Summary(canonical: approval.summary.span))?.text, needsOperator: approval.needsOperator)
  }
}

extension ApprovalRow.State {
  fileprivate init(_ state: ApprovalRecord.State) {
    self =
      switch state {
      case .pending: .pending
      case .approved: .approved
      case .denied: .denied
      case .reported: .reported
      case .expired: .expired
      case .cancelled: .cancelled
      }
  }
}

extension VoteRow {
  fileprivate init(_ cast: ApprovalLook.CastVote) {
    self.init(
      deviceID: cast.vote.device.text, deviceName: cast.deviceName?.text,
      decision: Decision(cast.vote.vote.decision), at: UnixTime(cast.vote.issuedAt),
      level: cast.vote.level.rawValue, verification: cast.vote.verification.rawValue)
  }
}

extension VoteRow.Decision {
  fileprivate init(_ decision: DeviceWire.Decision) {
    self =
      switch decision {
      case .approve: .approve
      case .deny: .deny
      case .report: .report
      }
  }
}
