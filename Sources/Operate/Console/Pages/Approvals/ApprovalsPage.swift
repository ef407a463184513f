/// `/approvals`: what waits for a person's word, and what came of it. The decided ones go on by `after`.
package import System

package struct ApprovalsPage: Sendable {
  /// The first to end first.
  package var pending: [ApprovalRow]
  /// The latest first.
  package var decided: [ApprovalRow]
  package var end: ListEnd

  package init(pending: [ApprovalRow], decided: [ApprovalRow], end: ListEnd) {
    self.pending = pending
    self.decided = decided
    self.end = end
  }
}

package struct ApprovalRow: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable {
    case pending
    case approved
    case denied
    /// Somebody who was asked says that it is a fraud.
    case reported
    case expired
    case cancelled
  }

  package var id: String
  package var state: State
  package var operation: String
  /// The service's name; `host` for programs of the host.
  package var service: String
  package var requester: String
  package var subject: String?
  package var createdAt: UnixTime
  package var expiresAt: UnixTime
  package var decidedAt: UnixTime?
  /// Devices that have approved.
  package var approvals: Int
  /// How many have to.
  package var quorum: Int

  package init(
    id: String, state: State, operation: String, service: String, requester: String, subject: String? = nil,
    createdAt: UnixTime, expiresAt: UnixTime, decidedAt: UnixTime? = nil, approvals: Int, quorum: Int
  ) {
    self.id = id
    self.state = state
    self.operation = operation
    self.service = service
    self.requester = requester
    self.subject = subject
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.decidedAt = decidedAt
    self.approvals = approvals
    self.quorum = quorum
  }
}

/// `/approvals/<id>`, with the operator's own word: posts to `/approvals/<id>/confirm` or `/approvals/<id>/refuse`.
package struct ApprovalPage: Sendable {
  /// Whether the operator who looks at it can say something.
  package enum OwnWord: String, Sendable {
    /// It asks for an operator, and this one may answer.
    case isAwaited
    /// The policy of this operation asks for none.
    case isNotAskedFor
    /// Nobody confirms what he asked for himself.
    case isOwnRequest
    /// Not in `APPROVAL_OPERATORS`.
    case isNoApprover
    /// An operator has spoken already.
    case isGiven
    /// It is decided.
    case isOver
  }

  package var approval: ApprovalRow
  /// The service's own words.
  package var text: String
  /// What the operation is about: names with texts.
  package var target: [(name: String, value: String)]
  package var requesterName: String?
  package var requesterAddress: String?
  /// What the policy asks of each device.
  package var level: String
  package var verification: String
  package var factors: [String]
  /// Why it could not be approved, such as `no_device`.
  package var reason: String?
  package var votes: [VoteRow]
  /// The system user who has confirmed or refused.
  package var operatorName: String?
  package var lease: LeaseRow?
  package var ownWord: OwnWord
  package var problems: [FieldProblem]

  package init(
    approval: ApprovalRow, text: String, target: [(name: String, value: String)],
    requesterName: String? = nil, requesterAddress: String? = nil, level: String, verification: String,
    factors: [String], reason: String? = nil, votes: [VoteRow], operatorName: String? = nil,
    lease: LeaseRow? = nil, ownWord: OwnWord, problems: [FieldProblem] = []
  ) {
    self.approval = approval
    self.text = text
    self.target = target
    self.requesterName = requesterName
    self.requesterAddress = requesterAddress
    self.level = level
    self.verification = verification
    self.factors = factors
    self.reason = reason
    self.votes = votes
    self.operatorName = operatorName
    self.lease = lease
    self.ownWord = ownWord
    self.problems = problems
  }
}

package struct VoteRow: Equatable, Sendable {
  package enum Decision: String, CaseIterable, Sendable {
    case approve
    case deny
    case report
  }

  package var deviceID: String
  package var deviceName: String?
  package var decision: Decision
  package var at: UnixTime
  package var level: String
  package var verification: String

  package init(
    deviceID: String, deviceName: String? = nil, decision: Decision, at: UnixTime, level: String,
    verification: String
  ) {
    self.deviceID = deviceID
    self.deviceName = deviceName
    self.decision = decision
    self.at = at
    self.level = level
    self.verification = verification
  }
}

package struct LeaseRow: Equatable, Sendable {
  package var expiresAt: UnixTime
  package var usesLeft: Int

  package init(expiresAt: UnixTime, usesLeft: Int) {
    self.expiresAt = expiresAt
    self.usesLeft = usesLeft
  }
}
