/// Operators of the host: what they may see, whose word counts as their factor, and what they have asked for themselves.
internal import ApprovalPolicy
internal import DeviceWire
internal import PortcullisProtocol
internal import System

extension Transaction {
  /// Which user of the host orders it.
  var user: UInt32? {
    switch origin {
    case .process(let user, _): user
    case .console(_, let user): user
    case .address, .gate: nil
    }
  }

  /// Operators, root and the gate's own user see everything, others what they have asked for themselves. Who has the
  /// console reads the audit too.
  func maySee(_ approval: ApprovalRecord) -> Bool {
    isOperators || user.map { approval.user == $0 } ?? false
  }

  /// A bar protects who has reported: those who ask do not lift their own, nor learn who has reported them.
  func requireOperator() throws(CallFailure) {
    guard isOperators else { throw .refused(.policyRefused, "approval_operator") }
  }

  /// An operator who has asked himself lifts nothing that was said of him. Root could do so anyway.
  func requireAnother(than requester: String) throws(CallFailure) {
    guard let user, user != 0, names(of: user).contains(where: requester.looksLike) else { return }
    throw .refused(.policyRefused, "approval_operator")
  }

  /// By which an operator of the host may be known as the one who has asked: by his number, and by his account.
  private func names(of user: UInt32) -> [String] {
    ["uid:\(user)"] + [settings.approvalOperatorNames[user]].compactMap(\.self)
  }

  /// Whether the operator has asked himself, over the socket or through a service that calls him so.
  func isRequester(_ user: UInt32, _ requester: Summary.Requester, user asker: UInt32?) -> Bool {
    user == asker || names(of: user).contains(where: requester.id.looksLike)
  }

  /// The same of a request as it is kept; one that cannot be read is everybody's.
  func isRequester(_ user: UInt32, of approval: ApprovalRecord) -> Bool {
    guard let summary = try? Summary(canonical: approval.summary.span) else { return true }
    return isRequester(user, summary.requester, user: approval.user)
  }

  private var isOperators: Bool {
    if case .console = origin { return true }
    guard let user else { return false }
    return user == 0 || user == Account.effectiveUser || settings.approvalOperators.contains(user)
  }

  /// The factor `operator`: the word of one who is none of those that ask.
  mutating func approve(_ approval: inout ApprovalRecord) throws(CallFailure) {
    guard approval.state == .pending else { throw .refused(.notPending, "approval_state") }
    guard approval.terms.factors.contains(.operator) else {
      throw .refused(.policyRefused, "approval_factor")
    }
    guard let user, settings.approvalOperators.contains(user), !isRequester(user, of: approval) else {
      throw .refused(.policyRefused, "approval_operator")
    }
    guard approval.operatorUser == nil else { throw .refused(.alreadyVoted, "approval_operator") }
    approval.operatorUser = user
    let changed = approval
    try store.update(changed)
    try settle(&approval, try votes(on: approval))
    try record(.approvalConfirmed, approval.audited + [.decision(.approve), approval.standing])
  }

  mutating func deny(_ approval: inout ApprovalRecord) throws(CallFailure) {
    guard let user, settings.approvalOperators.contains(user) else {
      throw .refused(.policyRefused, "approval_operator")
    }
    guard approval.state == .pending else { throw .refused(.notPending, "approval_state") }
    approval.operatorUser = user
    try end(&approval, as: .denied, isTold: true)
    try record(.approvalConfirmed, approval.audited + [.decision(.deny), approval.standing])
  }
}
