/// What services are called, for pages that have their ids: those that are revoked too, and those that have asked for certain
/// requests.
internal import Bytes
package import DeviceWire
package import JSON

package struct NameServices: AnsweringCall {
  package typealias Answer = NamedServices
  private static let most = 500

  private let approvals: [ApprovalID]

  /// - Parameter approvals: requests whose services are looked for; at most 500, more are left out.
  package init(askingFor approvals: [ApprovalID]) {
    self.approvals = Array(approvals.prefix(Self.most))
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let services = try transaction.serviceNames()
    var answer = NamedServices()
    for service in services.services { answer.names[service.id.text] = service.name.text }
    for approval in approvals {
      guard let service = try transaction.store.approval(approval)?.service else { continue }
      answer.askers[approval.text] = services.name(of: service)
    }
    return .reply(.value(answer))
  }
}

package struct NamedServices: RegistryAnswer {
  /// By their ids.
  package fileprivate(set) var names: [String: String] = [:]
  /// By the ids of the requests; those of users of the host, and those that are gone, are not among them.
  package fileprivate(set) var askers: [String: String] = [:]

  package func write(to json: inout JSONWriter) {
    json.beginObject()
    for (part, names) in [("names", names), ("askers", askers)] {
      json.name(part)
      json.beginObject()
      for (id, name) in names.sorted(by: { $0.key < $1.key }) { json.member(id, name) }
      json.endObject()
    }
    json.endObject()
  }
}
