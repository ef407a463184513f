/// What the audit calls what happens to services and to requests for approvals.

extension AuditEntry.Event {
  static let serviceAdded = Self("service_added")
  static let serviceRotated = Self("service_rotated")
  static let serviceRevoked = Self("service_revoked")

  static let approvalAsked = Self("approval_asked")
  /// A device has voted; `state` says what that has led to.
  static let approvalVoted = Self("approval_voted")
  /// An operator has approved or denied, likewise.
  static let approvalConfirmed = Self("approval_confirmed")
  /// A wrong code under a good signature.
  static let approvalCodeWrong = Self("approval_code_wrong")
  /// Without anybody's word, or for wrong codes; `state` says how.
  static let approvalEnded = Self("approval_ended")
  static let leaseUsed = Self("lease_used")
  static let leaseEnded = Self("lease_ended")
  static let requesterBarred = Self("requester_barred")
  /// It was reported so often that it may not ask the subject for anybody.
  static let serviceBarred = Self("service_barred")
  static let barLifted = Self("bar_lifted")
}

extension ApprovalRecord {
  /// Which request a row is about. Whose it is says the row of its asking. Its requester is a service's name for a person,
  /// and is in no row.
  var audited: [AuditEntry.Member] {
    [.approval(id)] + (subject.map { [.subject($0)] } ?? [])
  }

  var standing: AuditEntry.Member { .word("state", state.word) }
}
