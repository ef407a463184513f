/// What came of a request: `GET` and `DELETE /approvals/{id}` of the service that asked.
package import DeviceWire
internal import PortcullisProtocol

package struct ShowApproval: RegistryCall {
  private let token: String
  private let approval: ApprovalID

  package init(bearer token: String, approval: ApprovalID) {
    self.token = token
    self.approval = approval
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let service = try transaction.service(bearer: token, scope: .approvals)
    let found = try transaction.approval(approval, of: service)
    let answer = Reply.answered(try transaction.result(of: found))
    guard found.state == .pending, transaction.wait != nil else { return .reply(answer) }
    return .wait(.approval(found.id), by: .service(service.id), otherwise: answer)
  }
}

package struct CancelApproval: RegistryCall {
  private let token: String
  private let approval: ApprovalID

  package var urgency: Urgency { .vote }

  package init(bearer token: String, approval: ApprovalID) {
    self.token = token
    self.approval = approval
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let service = try transaction.service(bearer: token, scope: .approvals)
    var found = try transaction.approval(approval, of: service)
    try transaction.end(&found, as: .cancelled)
    return .reply(.answered(try transaction.result(of: found)))
  }
}

extension Transaction {
  /// Another service's is not there.
  fileprivate mutating func approval(
    _ id: ApprovalID, of service: ServiceRecord
  ) throws(CallFailure) -> ApprovalRecord {
    guard let found = try approval(id), found.service == service.id else {
      throw .refused(.notFound, "approval_id")
    }
    return found
  }
}
