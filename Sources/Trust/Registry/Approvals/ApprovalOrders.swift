/// What users of the host order about approvals: `approvals request`, `list`, `show`, `approve`, `deny`, `cancel`, `bars`.
internal import ApprovalPolicy
internal import Bytes
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System

enum ApprovalOrders {
  static func id(_ arguments: OrderArguments) throws(FormError) -> ApprovalID {
    guard let id = ApprovalID(try arguments.text("id")) else { throw FormError("id") }
    return id
  }

  static func list(_ arguments: OrderArguments) throws(FormError) -> ListAllApprovals {
    guard let word = try arguments.optionalText("state") else { return ListAllApprovals(state: nil) }
    guard let state = ApprovalRecord.State(word: word) else { throw FormError("state") }
    return ListAllApprovals(state: state)
  }

  static func request(_ arguments: JSONObject) throws(FormError) -> ApprovalRequestOrder {
    let arguments = try OrderArguments(arguments, "operation", "target", "text", "subject")
    guard let target = ApprovalRequest.target(.object(try arguments.object("target"))) else {
      throw FormError("target")
    }
    var subject: Subject?
    if let name = try arguments.optionalText("subject") {
      guard let known = Subject(name) else { throw FormError("subject") }
      subject = known
    }
    return ApprovalRequestOrder(
      operation: try arguments.text("operation"), target: target, text: try arguments.text("text"),
      subject: subject)
  }
}

/// Of one request.
struct ApprovalOrder: RegistryCall {
  enum Verb {
    case show, approve, deny, cancel
  }

  private let verb: Verb
  private let approval: ApprovalID

  init(_ verb: Verb, _ arguments: OrderArguments) throws(FormError) {
    self.verb = verb
    approval = try ApprovalOrders.id(arguments)
  }

  var urgency: Urgency { verb == .show ? .ordinary : .vote }

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    guard var found = try transaction.approval(approval), transaction.maySee(found) else {
      throw .refused(.notFound, "approval_id")
    }
    switch verb {
    case .show: break
    case .approve: try transaction.approve(&found)
    case .deny: try transaction.deny(&found)
    case .cancel: try transaction.end(&found, as: .cancelled)
    }
    return .reply(
      .answered(verb == .show ? try transaction.result(of: found) : try transaction.standing(of: found)))
  }
}

struct ListAllApprovals: RegistryCall {
  let state: ApprovalRecord.State?

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try transaction.endOverdueApprovals()
    let found = try transaction.store.approvals(in: state, limit: ApprovalLimits.shown)
    let services = try transaction.serviceNames()
    var writer = JSONWriter()
    writer.beginArray()
    for approval in found where transaction.maySee(approval) {
      // A day after its end a request has lost its texts.
      let summary = try? Summary(canonical: approval.summary.span)
      writer.beginObject()
      for (name, text) in [
        ("id", approval.id.text), ("state", approval.state.word), ("operation", approval.operation ?? ""),
        ("service", services.name(of: approval.service)), ("requester", approval.requester),
      ] {
        writer.name(name)
        writer.value(text)
      }
      if let name = summary?.requester.name {
        writer.name("requester_name")
        writer.value(name)
      }
      if let subject = approval.subject {
        writer.name("subject")
        writer.value(subject.name)
      }
      if let summary {
        writer.name("target")
        writer.beginObject()
        for (name, text) in summary.target.members {
          writer.name(name)
          writer.value(text)
        }
        writer.endObject()
        writer.name("text")
        writer.value(summary.text)
      }
      writer.name("created_at")
      writer.value(approval.createdAt.value)
      writer.name("expires_at")
      writer.value(approval.expiresAt.value)
      writer.endObject()
    }
    writer.endArray()
    return .reply(.answered(writer.bytes))
  }
}

// MARK: Bars

struct ListBars: RegistryCall {
  init(_: OrderArguments) {}

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try transaction.requireOperator()
    let bars = try transaction.store.bars()
    let services = try transaction.serviceNames()
    var writer = JSONWriter()
    writer.beginArray()
    for bar in bars {
      writer.beginObject()
      writer.name("service")
      writer.value(services.name(of: bar.service))
      // Without one it is the service that may not ask.
      if let requester = bar.requester {
        writer.name("requester")
        writer.value(requester)
      }
      writer.name("subject")
      writer.value(bar.subject.name)
      writer.name("at")
      writer.value(bar.at.value)
      writer.endObject()
    }
    writer.endArray()
    return .reply(.answered(writer.bytes))
  }
}

struct LiftBar: RegistryCall {
  private let service: String
  /// Nil for the service's own bar.
  private let requester: String?
  private let subject: Subject

  init(_ arguments: JSONObject) throws(FormError) {
    let arguments = try OrderArguments(arguments, "service", "requester", "subject")
    service = try arguments.text("service")
    requester = try arguments.optionalText("requester")
    if requester == "" { throw FormError("requester") }
    guard let subject = Subject(stored: try arguments.text("subject")) else { throw FormError("subject") }
    self.subject = subject
  }

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try transaction.requireOperator()
    // Of a revoked service too, and of one that had the name before.
    let services = try transaction.serviceNames()
    if let requester { try transaction.requireAnother(than: requester) }
    var isLifted = false
    for id in services.ids(named: service) {
      if try transaction.store.deleteBar(of: requester, of: id, for: subject) { isLifted = true }
    }
    guard isLifted else { throw .refused(.notFound, "approval_bar") }
    let whose = requester.map { [AuditEntry.Member.barRequester($0)] } ?? []
    try transaction.record(.barLifted, [.subject(subject), .word("bar_service", service)] + whose)
    return .reply(.answered(Array("{}".utf8)))
  }
}

extension Transaction {
  func serviceNames() throws(CallFailure) -> ServiceNames {
    ServiceNames(services: try store.services())
  }
}

/// Names for people; programs of the host have one together.
struct ServiceNames {
  let services: [ServiceRecord]

  func name(of id: ServiceID?) -> String {
    guard let id else { return ServiceName.host.text }
    return services.first { $0.id == id }?.name.text ?? id.text
  }

  func ids(named name: String) -> [ServiceID?] {
    let ids: [ServiceID?] = services.filter { $0.name.text == name }.map(\.id)
    return name == ServiceName.host.text ? ids + [nil] : ids
  }
}
