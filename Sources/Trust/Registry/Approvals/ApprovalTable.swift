/// The approvals' part of a store: requests, whom they were put to, votes, leases, bars.
package import DeviceWire

package protocol ApprovalTable {
  func approval(_ id: ApprovalID) throws(StoreFailure) -> ApprovalRecord?
  /// The newest that the service asked for by this key since then.
  func approval(
    of service: ServiceID, key: String, since: UnixSeconds
  ) throws(StoreFailure) -> ApprovalRecord?
  /// - Parameter devices: whom it is put to.
  func insert(_ approval: ApprovalRecord, for devices: [DeviceID]) throws(StoreFailure)
  func update(_ approval: ApprovalRecord) throws(StoreFailure)
  /// The newest first.
  func approvals(in state: ApprovalRecord.State?, limit: Int) throws(StoreFailure) -> [ApprovalRecord]
  /// The newest first, from behind one on; pending ones, or those that are over.
  func approvals(
    arePending: Bool, after: ApprovalID?, limit: Int
  ) throws(StoreFailure) -> [ApprovalRecord]
  /// Pending ones.
  func openApprovals(of service: ServiceID) throws(StoreFailure) -> [ApprovalID]
  /// Also those that he has asked for himself.
  func openApprovals(about subject: Subject) throws(StoreFailure) -> [ApprovalID]
  /// Pending ones of a requester.
  func countOpen(of service: ServiceID?, requester: String) throws(StoreFailure) -> Int
  /// Pending ones whose time is over, the oldest first.
  func overdueApprovals(at now: UnixSeconds, limit: Int) throws(StoreFailure) -> [ApprovalID]
  /// When the next pending one is over.
  func nextExpiry() throws(StoreFailure) -> UnixSeconds?
  /// Of ended ones whose summary is there yet: its hash and its operation are kept in its place.
  /// - Returns: how many.
  func shortenApprovals(endedBefore time: UnixSeconds, limit: Int) throws(StoreFailure) -> Int
  /// Ended ones with all that belongs to them.
  func deleteApprovals(endedBefore time: UnixSeconds, limit: Int) throws(StoreFailure) -> Int

  // MARK: Whom they are put to

  /// Those whose vote it waits for.
  func devices(of approval: ApprovalID) throws(StoreFailure) -> [DeviceID]
  func isPut(_ approval: ApprovalID, to device: DeviceID) throws(StoreFailure) -> Bool
  /// Those that wait for this device's vote, in the order in which they came, each with its place in that order.
  func openApprovals(
    for device: DeviceID, after place: Int64
  ) throws(StoreFailure) -> [(place: Int64, approval: ApprovalRecord)]
  /// Pending ones that were put to the device, whether it has voted or not.
  func openApprovals(putTo device: DeviceID) throws(StoreFailure) -> [ApprovalID]
  func countOpen(for device: DeviceID) throws(StoreFailure) -> Int
  /// Those of one service, or of one user of the host by the name that he is known by.
  func countOpen(
    for device: DeviceID, of service: ServiceID?, requester: String?
  ) throws(StoreFailure) -> Int
  /// The last place that was given to any.
  func lastPlace() throws(StoreFailure) -> Int64
  /// Nothing of the approval waits for the device's vote any more; nil: for anybody's.
  func close(_ approval: ApprovalID, for device: DeviceID?) throws(StoreFailure)
  /// It waits for the device's vote again, which it was put to before.
  func open(_ approval: ApprovalID, for device: DeviceID) throws(StoreFailure)
  /// Subjects of active devices that begin with `prefix`, in order.
  func subjects(beginningWith prefix: [UInt8], after: Subject?, limit: Int) throws(StoreFailure) -> [Subject]

  // MARK: Votes

  func votes(on approval: ApprovalID) throws(StoreFailure) -> [VoteRecord]
  func insert(_ vote: VoteRecord, on approval: ApprovalID) throws(StoreFailure)
  /// Of those that are pending: nobody has voted then.
  func deleteOpenVotes(of device: DeviceID) throws(StoreFailure)
  /// One more wrong code, and how many they are.
  func countTry(of device: DeviceID, on approval: ApprovalID) throws(StoreFailure) -> Int
  /// All that was put to it and all that it said, for a device that is forgotten.
  func deleteVotes(of device: DeviceID) throws(StoreFailure)
  /// Those about it, those that it has asked for, what it has reported, and what was reported of it; of others its name
  /// among those who may approve.
  func deleteApprovals(of subject: Subject) throws(StoreFailure)

  // MARK: Leases

  func lease(_ id: LeaseID) throws(StoreFailure) -> LeaseRecord?
  func lease(of approval: ApprovalID) throws(StoreFailure) -> LeaseRecord?
  func insert(_ lease: LeaseRecord) throws(StoreFailure)
  func update(_ lease: LeaseRecord) throws(StoreFailure)
  /// How many uses were left after this one; nil when it was not made.
  func usesLeft(after use: String, of lease: LeaseID) throws(StoreFailure) -> Int?
  func insert(use: String, of lease: LeaseID, usesLeft: Int) throws(StoreFailure)
  /// Ends those that rest on an approving vote of the device.
  func endLeases(of device: DeviceID, at now: UnixSeconds) throws(StoreFailure)
  func endAllLeases(at now: UnixSeconds) throws(StoreFailure)
  func endLeases(of service: ServiceID, at now: UnixSeconds) throws(StoreFailure)

  // MARK: Bars

  func bars(of service: ServiceID?, for subject: Subject) throws(StoreFailure) -> [BarRecord]
  func insert(_ bar: BarRecord) throws(StoreFailure)
  func bars() throws(StoreFailure) -> [BarRecord]
  /// False when there is none. With a service's own bar its reports are forgiven.
  func deleteBar(of requester: String?, of service: ServiceID?, for subject: Subject) throws(StoreFailure)
    -> Bool
  /// One more report; those before `since` count no more.
  /// - Returns: how many there are.
  func countReport(
    of service: ServiceID, by subject: Subject, at now: UnixSeconds, since: UnixSeconds
  ) throws(StoreFailure) -> Int
}
