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

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let service = try desk.service(bearer: token, scope: .approvals)
    let found = try desk.approval(approval, of: service)
    let answer = Reply.answered(try desk.result(of: found))
    guard found.state == .pending, desk.wait != nil else { return .reply(answer) }
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

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let service = try desk.service(bearer: token, scope: .approvals)
    var found = try desk.approval(approval, of: service)
    try desk.end(&found, as: .cancelled)
    return .reply(.answered(try desk.result(of: found)))
  }
}

extension Desk {
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
