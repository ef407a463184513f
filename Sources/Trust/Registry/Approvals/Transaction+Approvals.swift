/// How requests for approvals end, and what follows from it.
internal import ApprovalPolicy
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import PortcullisProtocol
internal import Time

extension Transaction {
  // MARK: Looking

  /// As it stands; one whose time is over has ended.
  mutating func approval(_ id: ApprovalID) throws(CallFailure) -> ApprovalRecord? {
    let found = try store.approval(id)
    guard var found else { return nil }
    if found.state == .pending, found.expiresAt <= UnixSeconds(now) { try end(&found, as: .expired) }
    return found
  }

  /// The request, if it was put to the device, and the device's subject is still one who may approve it.
  mutating func approval(
    _ id: ApprovalID, shownTo device: DeviceRecord
  ) throws(CallFailure) -> ApprovalRecord {
    let isPut = try store.isPut(id, to: device.id)
    guard isPut, let found = try approval(id),
      device.isApprover(found.terms, of: found.subject, requesters: found.requesters)
    else {
      throw .refused(.notFound, "approval_id")
    }
    return found
  }

  func votes(on approval: ApprovalRecord) throws(CallFailure) -> [VoteRecord] {
    try store.votes(on: approval.id)
  }

  func lease(of approval: ApprovalRecord) throws(CallFailure) -> LeaseRecord? {
    try store.lease(of: approval.id)
  }

  func votesNeeded(for approval: ApprovalRecord) throws(CallFailure) -> Int {
    guard approval.terms.factors.contains(.device) else { return 0 }
    return max(
      0, approval.terms.quorum - approval.terms.count(try counted(votes(on: approval), on: approval)))
  }

  /// Whose approving votes count now: those of devices that are still what they have to be, with the key and the subject
  /// that they had.
  /// - Parameter voter: who has just voted, and need not be looked up.
  private func counted(
    _ votes: [VoteRecord], on approval: ApprovalRecord, voter: DeviceRecord? = nil
  ) throws(CallFailure) -> [Subject] {
    var subjects: [Subject] = []
    let requesters = approval.requesters
    for vote in votes where vote.vote.decision == .approve {
      let device = vote.device == voter?.id ? voter : try store.device(vote.device)
      guard let device, device.subject == vote.subject, device.keys.approval?.point == vote.key,
        device.canDecide(approval.terms),
        device.isApprover(approval.terms, of: approval.subject, requesters: requesters)
      else { continue }
      subjects.append(vote.subject)
    }
    return subjects
  }

  // MARK: Ending

  /// Approves it if all that it takes is there; a request that gives a lease gives it then. The row of the audit for the
  /// last word of them is the caller's, and says how it stands.
  /// - Parameters:
  ///   - votes: all that there are.
  ///   - voter: who gave the last of them, if that is why it is asked.
  mutating func settle(
    _ approval: inout ApprovalRecord, _ votes: [VoteRecord], voter: DeviceRecord? = nil
  ) throws(CallFailure) {
    let terms = approval.terms
    if terms.factors.contains(.operator), approval.operatorUser == nil { return }
    if terms.factors.contains(.device), !terms.isQuorum(try counted(votes, on: approval, voter: voter)) {
      return
    }
    try end(&approval, as: .approved, isTold: true)
    guard let lease = terms.lease else { return }
    let record = LeaseRecord(
      id: LeaseID(random: entropy), approval: approval.id,
      expiresAt: UnixSeconds(now) + Int64(lease.seconds), usesLeft: lease.uses)
    try store.insert(record)
  }

  /// A request ends once: it has to be pending.
  /// - Parameter isTold: whether the row of the audit for what ends it says so.
  mutating func end(
    _ approval: inout ApprovalRecord, as state: ApprovalRecord.State, isTold: Bool = false
  ) throws(CallFailure) {
    guard approval.state == .pending else { throw .refused(.notPending, "approval_state") }
    approval.state = state
    approval.endedAt = state == .expired ? min(approval.expiresAt, UnixSeconds(now)) : UnixSeconds(now)
    let ended = approval
    let row = ended.audited + [ended.standing]
    if state == .expired {
      try recordOverdue(.approvalEnded, row)
    } else if !isTold {
      try record(.approvalEnded, row)
    }
    let devices = try store.devices(of: ended.id)
    try store.update(ended)
    try store.close(ended.id, for: nil)
    for id in devices {
      let device = try store.device(id)
      if let device { try announceOpen(for: device, isNews: false) }
    }
    announce(.wake(.approval(ended.id)))
  }

  /// How many wait for the device's vote now.
  mutating func announceOpen(for device: DeviceRecord, isNews: Bool = true) throws(CallFailure) {
    let count = try store.countOpen(for: device.id)
    announce(.approvalsOpen(device.id, attestedBy: device.attestedKey, count: count))
    if isNews { announce(.wake(.approvals(of: device.id))) }
  }

  /// Those whose time is over; some at a time, as there may be many.
  mutating func endOverdueApprovals(limit: Int = 16) throws(CallFailure) {
    let time = UnixSeconds(now)
    let overdue = try store.overdueApprovals(at: time, limit: limit)
    for id in overdue { try end(id, as: .expired) }
  }

  /// All that is open, with the leases that hold.
  mutating func endAllApprovals() throws(CallFailure) {
    let time = UnixSeconds(now)
    try store.endAllLeases(at: time)
    let open = try store.overdueApprovals(at: UnixSeconds(UnixTime(milliseconds: .max)), limit: .max)
    for id in open { try end(id, as: .expired) }
  }

  private mutating func end(_ id: ApprovalID, as state: ApprovalRecord.State) throws(CallFailure) {
    let found = try store.approval(id)
    guard var found, found.state == .pending else { return }
    try end(&found, as: state)
  }

  // MARK: What others' ends bring about

  /// The device is revoked: its votes on what is open are none, leases that rest on its votes end, and requests that
  /// nobody is left for are cancelled. Its one-time codes are none either.
  mutating func withdrawVotes(of device: DeviceID) throws(CallFailure) {
    try store.withdrawChallenges(from: device)
    let time = UnixSeconds(now)
    try store.endLeases(of: device, at: time)
    let open = try store.openApprovals(putTo: device)
    try store.deleteOpenVotes(of: device)
    for id in open { try store.close(id, for: device) }
    try cancelUnmet(open)
    let known = try store.device(device)
    if let known { try announceOpen(for: known) }
  }

  /// The device has other keys: what it said by the old ones of what is open is said no more, and it is asked again. What
  /// the new ones are not enough for, and nobody else can decide, is cancelled. A lease stays: the device is the same one.
  mutating func askAgain(_ device: DeviceRecord) throws(CallFailure) {
    let open = try store.openApprovals(putTo: device.id)
    for id in open where try store.votes(on: id).contains(where: { $0.device == device.id }) {
      try store.open(id, for: device.id)
    }
    try store.deleteOpenVotes(of: device.id)
    try cancelUnmet(open)
    if !open.isEmpty { try announceOpen(for: device) }
  }

  private mutating func cancelUnmet(_ approvals: [ApprovalID]) throws(CallFailure) {
    for id in approvals {
      let found = try store.approval(id)
      guard var found, found.state == .pending, try !canBeMet(found) else { continue }
      found.lacksDevices = true
      try end(&found, as: .cancelled)
    }
  }

  /// Whether those who have approved and those who still may are enough.
  private func canBeMet(_ approval: ApprovalRecord) throws(CallFailure) -> Bool {
    guard approval.terms.factors.contains(.device) else { return true }
    var subjects = try counted(votes(on: approval), on: approval)
    let requesters = approval.requesters
    let devices = try store.devices(of: approval.id)
    for id in devices {
      let device = try store.device(id)
      if let device, device.canDecide(approval.terms), let subject = device.subject,
        device.isApprover(approval.terms, of: approval.subject, requesters: requesters)
      {
        subjects.append(subject)
      }
    }
    return approval.terms.isQuorum(subjects)
  }

  /// The service is revoked.
  mutating func endApprovals(of service: ServiceRecord) throws(CallFailure) {
    let time = UnixSeconds(now)
    try store.endLeases(of: service.id, at: time)
    let open = try store.openApprovals(of: service.id)
    for id in open { try end(id, as: .cancelled) }
  }
}

extension Transaction {
  /// Requests that name the subject, open ones as cancelled, and what it has reported.
  mutating func forgetApprovals(of subject: Subject) throws(CallFailure) {
    let open = try store.openApprovals(about: subject)
    for id in open { try end(id, as: .cancelled) }
    try store.deleteApprovals(of: subject)
  }
}

extension ApprovalRecord {
  var summaryHash: Bytes32 { remains?.summaryHash ?? SHA256.hash(summary.span) }

  /// As far as it is known.
  package var operation: String? {
    remains == nil ? (try? Summary(canonical: summary.span))?.operation : remains?.operation
  }
}
