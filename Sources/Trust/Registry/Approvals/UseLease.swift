/// Doing what was approved: `POST /leases/{id}/use`, and giving the rest back: `DELETE /leases/{id}`.
internal import Bytes
package import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System

package struct UseLease: RegistryCall {
  private let token: String
  private let lease: LeaseID
  private let operation: String
  private let target: Summary.Target
  /// The service's own name for this use: one that it repeats is the same one.
  private let use: String

  package init(bearer token: String, lease: LeaseID, form: Form) throws(FormError) {
    self.token = token
    self.lease = lease
    operation = try form.text("operation", ApprovalRequest.name)
    target = try form.required("target", ApprovalRequest.target)
    use = try form.text("use_id", ApprovalRequest.name)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var (lease, approval) = try transaction.lease(lease, bearer: token)
    guard fits(approval) else { throw .refused(.leaseMismatch, "lease_operation") }
    let known = try transaction.store.usesLeft(after: use, of: lease.id)
    if let known { return .reply(.answered(Self.json(known))) }
    guard !lease.isOver(at: UnixSeconds(transaction.now)) else { throw .refused(.leaseEnded, "lease_end") }
    guard lease.usesLeft > 0 else { throw .refused(.leaseExhausted, "lease_uses") }
    lease.usesLeft -= 1
    let used = lease
    try transaction.store.update(used)
    try transaction.store.insert(use: use, of: used.id, usesLeft: used.usesLeft)
    try transaction.record(.leaseUsed, .lease(used.id), .approval(used.approval), .count(used.usesLeft))
    return .reply(.answered(Self.json(used.usesLeft)))
  }

  /// Long after the end, when its lease is over, the target is not kept any more.
  private func fits(_ approval: ApprovalRecord) -> Bool {
    guard approval.operation?.isSameText(as: operation) == true else { return false }
    if approval.remains != nil { return true }
    return (try? Summary(canonical: approval.summary.span))?.target == target
  }

  fileprivate static func json(_ usesLeft: Int) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("uses_left")
    writer.value(usesLeft)
    writer.endObject()
    return writer.bytes
  }
}

package struct EndLease: RegistryCall {
  private let token: String
  private let lease: LeaseID

  package var urgency: Urgency { .vote }

  package init(bearer token: String, lease: LeaseID) {
    self.token = token
    self.lease = lease
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var (lease, _) = try transaction.lease(lease, bearer: token)
    let now = UnixSeconds(transaction.now)
    guard !lease.isOver(at: now) else { throw .refused(.leaseEnded, "lease_end") }
    lease.endedAt = now
    let ended = lease
    try transaction.store.update(ended)
    try transaction.record(.leaseEnded, .lease(ended.id), .approval(ended.approval))
    return .reply(.answered(UseLease.json(0)))
  }
}

extension Transaction {
  /// Another service's is not there.
  fileprivate mutating func lease(
    _ id: LeaseID, bearer token: String
  ) throws(CallFailure) -> (LeaseRecord, ApprovalRecord) {
    let service = try service(bearer: token, scope: .approvals)
    guard let lease = try store.lease(id), let approval = try store.approval(lease.approval),
      approval.service == service.id
    else {
      throw .refused(.notFound, "lease_id")
    }
    return (lease, approval)
  }
}
