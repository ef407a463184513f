/// One request to the registry as a value, what may come of it, and who asks (docs/devices-operating.md, "The registry").
package import Addresses
internal import DeviceWire
package import PortcullisProtocol
package import Time

/// Knows all that it needs, and runs on the registry's thread, in a savepoint of its own.
package protocol RegistryCall: Sendable {
  var urgency: Urgency { get }

  /// Which of a phone's two turns it is, where the phone shows evidence.
  var evidenceStep: EvidenceStep { get }

  /// Of a revocation, what holds at once even if nothing can be written: such a call is tried again until it is.
  var immediate: [RegistryEffect] { get }

  /// Of a revocation, what it ends, as the log names it; of the same again the same.
  var revokes: String { get }

  /// Of a revocation that whoever ordered it orders again at the next start, so that nothing is lost with the process.
  var isOrderedAnew: Bool { get }

  /// Of a revocation whose devices stand in the store, and are not yet known.
  var isToLookUp: Bool { get }

  /// Whether somebody relies on the time at which it was answered. Where nobody does, and nothing was changed, nothing is
  /// written: what is asked each second wakes no disk.
  var tellsTime: Bool { get }

  /// The same with all of them known, and told by `immediate`: the store may be read though it cannot be written.
  func lookingUp(_ store: RegistryDatabase) throws(CallFailure) -> any RegistryCall

  /// Throwing undoes all that it has changed in the store. A refusal that is to leave something behind, a counted try or a
  /// row of the audit, is returned.
  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome
}

extension RegistryCall {
  package var urgency: Urgency { .ordinary }
  package var evidenceStep: EvidenceStep { .none }
  package var immediate: [RegistryEffect] { [] }
  package var revokes: String { "" }
  package var isOrderedAnew: Bool { false }
  package var isToLookUp: Bool { false }
  package var tellsTime: Bool { true }
  package func lookingUp(_ store: RegistryDatabase) throws(CallFailure) -> any RegistryCall { self }
}

/// Evidence is judged between two calls, elsewhere. Both can wait for others of their kind.
package enum EvidenceStep: Sendable {
  case none
  /// Asks whether it is to be judged, and by what.
  case asked
  /// Writes what came of it.
  case brought
}

/// Whose turn comes first when more wait than one group of requests holds.
package enum Urgency: Int, CaseIterable, Comparable, Sendable {
  case revocation
  case vote
  case ordinary

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Who asks, as far as the kernel or the socket says so.
package enum Origin: Hashable, Sendable {
  /// A client of the HTTPS port, by its address.
  case address(IPAddress)
  /// A process of the host at the control socket or at `APPROVALS_SOCKET`.
  case process(user: UInt32, process: Int32)
  /// An operator of the console, by the name that he has signed in by or that his token has.
  /// - Parameter user: of the host, where he is one: a token is none, whatever its name.
  case console(name: String, user: UInt32?)
  /// The gate itself.
  case gate

  /// What limits are counted by: of an address of IPv6 its /64, as a subscriber has at least that much.
  var payer: Origin {
    if case .address(let address) = self { .address(address.accountingPrefix) } else { self }
  }
}

package enum Outcome: Sendable {
  case reply(Reply)
  /// Nothing to say yet: the call is run again when the topic is woken, and `otherwise` is said when its time is over. Only
  /// where `Transaction.wait` is set.
  case wait(Topic, by: Party, otherwise: Reply)
  /// A long piece of work goes on with this call, in another group, for the same request.
  case goOn(any RegistryCall)
  /// As `reply`, and said when what the call has deleted is in no file of the store any more; refused where it cannot be.
  case erased(Reply)
  /// A copy of the store is made in a new file of this name beside it, between the groups; the answer comes when it is
  /// whole.
  case copy(named: String)
}

/// Whose long polls are counted together.
package enum Party: Hashable, Sendable {
  case device(DeviceID)
  case service(ServiceID)
  /// A phone that has no name yet, by its pairing.
  case pairing(PairingID)
  case process(Int32)
}

/// What a request comes to.
package enum Reply: Sendable {
  /// A JSON object that the call has written, for a peer that is not here.
  case answered([UInt8])
  case value(any RegistryAnswer)
  /// Which keys evidence has to name; read by the judge of the evidence, in this process.
  case keys(AttestedKeys)
  /// As `answered`, and something is there that was not.
  case created([UInt8])
  /// Of a call that asks whether another one is worth its trouble: it is.
  case permitted
  case refused(RegistryRefusal)

  package var isRefusal: Bool {
    if case .refused = self { true } else { false }
  }

  /// What a peer gets; nil where there is nothing for it.
  package var json: [UInt8]? {
    switch self {
    case .answered(let json), .created(let json): json
    case .value(let answer): answer.json
    case .keys, .permitted, .refused: nil
    }
  }
}

extension Reply: Equatable {
  /// Values are equal where their JSON is.
  package static func == (left: Reply, right: Reply) -> Bool {
    switch (left, right) {
    case (.answered(let left), .answered(let right)), (.created(let left), .created(let right)): left == right
    case (.value(let left), .value(let right)): left.json == right.json
    case (.keys(let left), .keys(let right)): left == right
    case (.permitted, .permitted): true
    case (.refused(let left), .refused(let right)): left == right
    case (.answered, _), (.value, _), (.keys, _), (.created, _), (.permitted, _), (.refused, _): false
    }
  }
}

package struct RegistryRefusal: Error, Equatable, Sendable {
  package let code: RefusalCode
  /// The rule that was broken, as the log names it.
  package let step: String
  package var retryAfter: Duration?
  /// The registry's time, for a peer whose own is too far from it.
  package var time: UnixTime?
  /// What an operator is told in the place of the code's own sentence: the thing, its name, and what to do.
  package var says: String?

  package init(
    _ code: RefusalCode, _ step: String, retryAfter: Duration? = nil, time: UnixTime? = nil,
    says: String? = nil
  ) {
    self.says = says
    self.code = code
    self.step = step
    self.retryAfter = retryAfter
    self.time = time
  }
}

/// Why a call was undone.
package enum CallFailure: Error, Equatable, Sendable {
  case refused(RegistryRefusal)
  case store(StoreFailure)

  package static func refused(_ code: RefusalCode, _ step: String) -> Self {
    .refused(RegistryRefusal(code, step))
  }

  /// Of what refuses nothing.
  package var ofStore: StoreFailure {
    switch self {
    case .store(let failure): failure
    case .refused(let refusal): .constraint(refusal.step)
    }
  }
}

/// What a body or an order lacks, found before anything is asked of the registry.
package struct FormError: Error, Equatable, Sendable {
  /// The member that is wrong, as the log names it.
  package let step: String
  /// The member whose value broke the rule, where the step is a rule's name.
  private let named: String?

  package init(_ step: String, of member: String? = nil) {
    self.step = step
    named = member
  }

  /// The member that is wrong, as a developer has written it; nil where it is all of the body.
  package var member: String? {
    if let named { return named }
    if step == "json" || step.hasPrefix("summary_") { return nil }
    if step == "evidence_platform" { return "evidence" }
    return step.hasPrefix("attestation_type_") ? "attestation_type" : step
  }
}

/// What a long poll waits for.
package enum Topic: Hashable, Sendable {
  /// Requests that wait for this device's vote.
  case approvals(of: DeviceID)
  /// The end of one request.
  case approval(ApprovalID)
  case pairing(PairingID)
  /// Logins that wait for a code of this device.
  case codes(of: DeviceID)
}
