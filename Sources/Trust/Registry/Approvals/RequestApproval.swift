/// Asking for an approval: `POST /approvals`, and `approvals request` of a user of the host.
internal import ApprovalPolicy
internal import Bytes
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol
package import System
internal import Time

package struct RequestApproval: RegistryCall {
  private let token: String
  private let request: ApprovalRequest

  package init(bearer token: String, form: Form) throws(FormError) {
    self.token = token
    request = try ApprovalRequest(form: form)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let service = try transaction.service(bearer: token, scope: .approvals)
    if let subject = request.subject, !service.mayName(subject) {
      throw .refused(.scopeMissing, "service_subject")
    }
    return .reply(try transaction.ask(request, by: .service(service)))
  }
}

package struct RequestApprovalOfUser: RegistryCall {
  let request: ApprovalRequestOrder
  private var name = AccountName.unknown

  init(request: ApprovalRequestOrder) {
    self.request = request
  }

  /// - Parameter name: of the account of whoever asks. The registry's thread asks no directory of users.
  package func known(as name: AccountName) -> Self {
    var call = self
    // One that no summary may hold is as good as none that can be told.
    call.name = name.text.map { Subject($0) == nil } == true ? .unknown : name
    return call
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    guard case .process(let user, _) = transaction.origin else {
      throw .refused(.policyRefused, "approval_user")
    }
    let asked: ApprovalRequest
    do throws(FormError) {
      asked = try ApprovalRequest(
        operation: request.operation, target: request.target, text: request.text, subject: request.subject,
        user: user, name: name.text)
    } catch {
      throw .refused(.badRequest, error.step)
    }
    return .reply(try transaction.ask(asked, by: .user(user, name)))
  }
}

/// What a user of the host states.
struct ApprovalRequestOrder {
  let operation: String
  let target: Summary.Target
  let text: String
  let subject: Subject?
}

/// Who asks.
enum Asker {
  case service(ServiceRecord)
  case user(UInt32, AccountName)

  var service: ServiceID? { if case .service(let service) = self { service.id } else { nil } }
  var user: UInt32? { if case .user(let user, _) = self { user } else { nil } }
  /// Whose name cannot be told, and might be that of whoever is to decide.
  var isUnnamed: Bool { if case .user(_, .unknown) = self { true } else { false } }

  var name: ServiceName {
    switch self {
    case .service(let service): service.name
    case .user: .host
    }
  }
}

extension Transaction {
  fileprivate mutating func ask(_ request: ApprovalRequest, by asker: Asker) throws(CallFailure) -> Reply {
    try endOverdueApprovals()
    if let known = try known(request, by: asker) { return .created(known.receipt) }
    let terms = try terms(of: request)
    let open = try store.countOpen(of: asker.service, requester: request.requester.id)
    guard open < ApprovalLimits.openOfRequester else {
      throw .refused(.tooManyOpen, "approval_open_of_requester")
    }
    if terms.factors.contains(.operator),
      settings.approvalOperators.allSatisfy({ isRequester($0, request.requester, user: asker.user) })
    {
      throw .refused(.noDevice, "approval_operators")
    }
    if terms.factors.contains(.device), terms.barsRequester, asker.isUnnamed {
      throw .refused(.policyRefused, "approval_user_name")
    }
    let devices =
      terms.factors.contains(.device)
      ? try devices(
        for: request, terms, by: asker, requesters: request.requester.names(of: asker.user)) : []
    let approval = try approval(request, by: asker, terms)
    try leave(approval.summary.count, by: asker.service)
    try store.insert(approval, for: devices.map(\.id))
    let service = approval.service.map { [AuditEntry.Member.service($0)] } ?? []
    try record(.approvalAsked, approval.audited + service + [.summary(approval.summaryHash)])
    for device in devices { try announceOpen(for: device) }
    remind(at: UnixTime(approval.expiresAt))
    return .created(approval.receipt)
  }

  /// The request that this one repeats.
  private func known(_ request: ApprovalRequest, by asker: Asker) throws(CallFailure) -> ApprovalRecord? {
    guard let key = request.idempotencyKey, let service = asker.service else { return nil }
    let since = UnixSeconds(now) + -ApprovalLimits.idempotency
    let found = try store.approval(of: service, key: key, since: since)
    guard let found else { return nil }
    guard found.idempotency?.asked == request.hash else {
      throw .refused(.idempotencyConflict, "approval_idempotency_key")
    }
    return found
  }

  private func terms(of request: ApprovalRequest) throws(CallFailure) -> ApprovalTerms {
    let question = ApprovalQuestion(
      operation: request.operation, target: request.target.members.map { ($0.name, $0.value) })
    var terms: ApprovalTerms
    do throws(PolicyRefusal) {
      terms = try settings.approvals.terms(for: question, asked: request.asked)
    } catch {
      switch error {
      case .noRule: throw .refused(.policyRefused, "approval_policy")
      case .noLease: throw .refused(.policyRefused, "approval_lease")
      }
    }
    terms.level = max(terms.level, settings.minimumLevel)
    if terms.factors.contains(.device), !terms.approvers.areStated, request.subject == nil {
      throw .refused(.badRequest, "approval_approvers")
    }
    return terms
  }

  private func approval(
    _ request: ApprovalRequest, by asker: Asker, _ terms: ApprovalTerms
  ) throws(CallFailure) -> ApprovalRecord {
    let time = UnixSeconds(now)
    let summary: Summary
    do throws(CanonicalJSONError) {
      summary = try request.summary(service: asker.name, terms: terms, at: time)
    } catch {
      throw .refused(.badRequest, "summary_\(error.rawValue)")
    }
    var idempotency: ApprovalRecord.Idempotency?
    if let key = request.idempotencyKey, let hash = request.hash {
      idempotency = ApprovalRecord.Idempotency(key: key, asked: hash)
    }
    return ApprovalRecord(
      id: ApprovalID(random: entropy), service: asker.service, user: asker.user,
      requester: request.requester.id, subject: request.subject, summary: summary.bytes, terms: terms,
      matchCode: MatchCode(digits: terms.matchDigits, entropy), createdAt: time,
      expiresAt: time + Int64(terms.seconds), idempotency: idempotency)
  }
}

extension ApprovalRecord {
  /// What the requester is told; the code goes to nobody else.
  fileprivate var receipt: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("id")
    writer.value(id.text)
    if !matchCode.isNone {
      writer.name("match_code")
      writer.value(matchCode.text)
    }
    writer.name("expires_at")
    writer.value(expiresAt.value)
    writer.endObject()
    return writer.bytes
  }
}

extension MatchCode {
  /// Each as likely as any other: bytes that would favour small digits are thrown away.
  fileprivate init(digits count: Int, _ entropy: some Entropy) {
    var text = ""
    while text.utf8.count < count {
      for byte in entropy.bytes(8) where byte < 250 && text.utf8.count < count { text += String(byte % 10) }
    }
    self = MatchCode(text) ?? .none
  }
}
