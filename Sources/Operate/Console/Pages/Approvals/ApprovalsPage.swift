/// `/approvals`: what waits for a person's word, and what came of it. The decided ones go on by `after`.
import Time

struct ApprovalsPage: Sendable {
  /// The first to end first.
  var pending: [ApprovalRow]
  /// The latest first.
  var decided: [ApprovalRow]
  var end: ListEnd
}

struct ApprovalRow: Equatable, Sendable {
  enum State: String, CaseIterable, Sendable {
    case pending
    case approved
    case denied
    /// Somebody who was asked says that it is a fraud.
    case reported
    case expired
    case cancelled
  }

  var id: String
  var state: State
  var operation: String
  /// The service's name; `host` for programs of the host.
  var service: String
  var requester: String
  var subject: String?
  var createdAt: UnixTime
  var expiresAt: UnixTime
  var decidedAt: UnixTime?
  /// Devices that have approved.
  var approvals: Int
  /// How many have to.
  var quorum: Int
  /// The service's own words; nil where they are not kept any more.
  var text: String?
  /// It takes an operator's word, and none has given it.
  var needsOperator = false
}

/// `/approvals/<id>`, with the operator's own word: posts to `/approvals/<id>/confirm` or `/approvals/<id>/refuse`.
struct ApprovalPage: Sendable {
  /// Whether the operator who looks at it can say something.
  enum OwnWord: String, Sendable {
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

  var approval: ApprovalRow
  /// The service's own words.
  var text: String
  /// What the operation is about: names with texts.
  var target: [(name: String, value: String)]
  var requesterName: String?
  var requesterAddress: String?
  /// What the policy asks of each device.
  var level: String
  var verification: String
  var factors: [String]
  /// Why it could not be approved, such as `no_device`.
  var reason: String?
  var votes: [VoteRow]
  /// The system user who has confirmed or refused.
  var operatorName: String?
  var lease: LeaseRow?
  var ownWord: OwnWord
  var problems: [FieldProblem] = []
}

struct VoteRow: Equatable, Sendable {
  enum Decision: String, CaseIterable, Sendable {
    case approve
    case deny
    case report
  }

  var deviceID: String
  var deviceName: String?
  var decision: Decision
  var at: UnixTime
  var level: String
  var verification: String
}

struct LeaseRow: Equatable, Sendable {
  var expiresAt: UnixTime
  var usesLeft: Int
}
