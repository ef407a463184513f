/// What waits for an operator at this moment: requests that take an operator's word, and phones whose six digits nobody has
/// typed (docs/console.md, "Console").
internal import ApprovalPolicy
package import DeviceWire
package import JSON
internal import PortcullisProtocol
package import Time

/// Changes nothing: a request whose time is over is left out, whether it has been ended already or not.
package struct WaitingForOperators: AnsweringCall {
  package typealias Answer = OperatorsQueue
  /// More than a person can look at.
  private static let most = 500

  package init() {}

  package var tellsTime: Bool { false }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let now = transaction.now
    let store = transaction.store
    let requests = try store.approvals(arePending: true, after: nil, limit: Self.most)
    let pairings = try store.openPairings(of: nil, endingBy: UnixTime(milliseconds: .max), limit: Self.most)
      .filter { $0.state == .revealed && $0.expiresAt > now }
      .map { pairing throws(CallFailure) in
        OperatorsQueue.Phone(
          device: pairing.answer?.device,
          name: try pairing.answer.map { answer throws(CallFailure) in
            try store.device(answer.device)?.name
          } ?? nil, subject: pairing.subject, expiresAt: pairing.expiresAt)
      }
    return .reply(
      .value(
        OperatorsQueue(
          requests: requests.filter { $0.needsOperator && UnixTime($0.expiresAt) > now }
            .map(OperatorsQueue.Request.init).sorted { $0.expiresAt < $1.expiresAt }, phones: pairings)))
  }
}

/// The first to end first.
package struct OperatorsQueue: RegistryAnswer {
  package struct Request: Equatable, Sendable {
    package let id: ApprovalID
    package let operation: String?
    /// What the requester wants, in its own words; nil where they cannot be read.
    package let text: String?
    package let expiresAt: UnixTime

    init(_ approval: ApprovalRecord) {
      id = approval.id
      operation = approval.operation
      text = (try? Summary(canonical: approval.summary.span))?.text
      expiresAt = UnixTime(approval.expiresAt)
    }
  }

  package struct Phone: Equatable, Sendable {
    package let device: DeviceID?
    /// The phone's own.
    package let name: DeviceName?
    package let subject: Subject?
    package let expiresAt: UnixTime
  }

  package let requests: [Request]
  package let phones: [Phone]

  package func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("requests", Int64(requests.count))
    json.member("phones", Int64(phones.count))
    json.endObject()
  }
}

extension ApprovalRecord {
  /// It is decided by nobody yet, and takes the word of an operator, which has not been given.
  package var needsOperator: Bool {
    state == .pending && terms.factors.contains(.operator) && operatorUser == nil
  }
}
