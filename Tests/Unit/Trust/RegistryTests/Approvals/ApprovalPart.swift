/// Services, phones and approvals over a store in a file, with a clock that the test sets.
import ApprovalPolicy
import Bytes
import Crypto
import DeviceWire
import Foundation
import JSON
import Kit
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

final class ApprovalPart {
  let store: RegistryDatabase
  let server = ServerID(random: KernelEntropy())
  var settings = RegistrySettings(publicURL: "https://gate.example")
  var now: UnixTime
  /// Of the last call.
  private(set) var effects: [RegistryEffect] = []
  private let tokens: TokenMint
  private let verifier = P256Verifier()
  private let memory = DeviceMemory()
  private let folder: TestFolder

  convenience init(policy: String = #"{"DEFAULT":{}}"#) throws {
    let folder = try TestFolder("approvals-")
    let store = try RegistryDatabase(folder.file("devices.db"))
    let now = UnixTime(milliseconds: 1_800_000_000_000)
    self.init(folder, store, try TokenMint(store, at: now, P256Verifier()), now)
    try setPolicy(policy)
    settings.approvalOperators = [501, 502]
  }

  private init(_ folder: TestFolder, _ store: RegistryDatabase, _ tokens: TokenMint, _ now: UnixTime) {
    self.folder = folder
    self.store = store
    self.tokens = tokens
    self.now = now
  }

  deinit {
    Statements.check(store)
    store.close()
    folder.remove()
  }

  func setPolicy(_ text: String) throws {
    let bytes = Array(text.utf8)
    settings.approvals = try ApprovalPolicy(parsing: bytes.span)
  }

  func pass(_ seconds: Int64) { now = UnixTime(milliseconds: now.milliseconds + seconds * 1000) }

  // MARK: Calls

  func transaction(from origin: Origin, wait: Duration? = nil) -> Transaction {
    Transaction(
      store: store, now: now, entropy: KernelEntropy(), settings: settings, server: server,
      verifier: verifier, tokens: tokens, devices: memory, origin: origin, wait: wait)
  }

  /// In a savepoint of its own, as the registry's thread does it.
  @discardableResult
  func run(
    _ call: any RegistryCall, from origin: Origin = .gate, wait: Duration? = nil
  ) throws -> Outcome {
    var transaction = transaction(from: origin, wait: wait)
    try store.begin()
    try store.enter()
    let result = Self.attempt(call, &transaction)
    effects = transaction.effects
    switch result {
    case .success(let outcome):
      try store.keep()
      try store.commit()
      if case .goOn(let next) = outcome { return try run(next, from: origin, wait: wait) }
      return outcome
    case .failure(.refused(let refusal)):
      try store.undo()
      try store.commit()
      return .reply(.refused(refusal))
    case .failure(let failure): throw failure
    }
  }

  private static func attempt(_ call: any RegistryCall, _ transaction: inout Transaction) -> Result<
    Outcome, CallFailure
  > {
    do throws(CallFailure) { return .success(try call.run(&transaction)) } catch { return .failure(error) }
  }

  func answer(
    _ call: any RegistryCall, from origin: Origin = .gate, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Answer {
    let reply: Reply
    switch try run(call, from: origin) {
    case .reply(let said), .erased(let said): reply = said
    case .wait, .goOn, .copy:
      Issue.record("it is not answered at once", sourceLocation: sourceLocation)
      return Answer(json: [], refusal: nil)
    }
    if case .refused(let refusal) = reply { return Answer(json: [], refusal: refusal) }
    return Answer(json: reply.json ?? [], refusal: nil)
  }

  /// - Parameter name: of the account of whoever orders it, where he asks for an approval.
  func order(
    _ verb: String, _ arguments: String = "{}", uid: UInt32 = 501, name: AccountName = .nameless
  ) throws -> Answer {
    if verb == "devices-forget" { _ = try order("devices-end", arguments, uid: uid) }
    let bytes = Array(arguments.utf8)
    let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 4).object)
    var call = try OperatorOrder.call(verb, object)
    if let asked = call as? RequestApprovalOfUser { call = asked.known(as: name) }
    return try answer(call, from: .process(user: uid, process: 7))
  }

  func form(_ text: String) throws -> Form {
    let bytes = Array(text.utf8)
    return try Form(body: bytes.span, checkedBy: verifier)
  }

  // MARK: Who is there

  func service(
    _ name: String = "mud", subjects: String = "*", scope: String = "approvals"
  ) throws -> String {
    let made = try order(
      "services-add", #"{"name":"\#(name)","scopes":["\#(scope)"],"subjects":"\#(subjects)"}"#)
    return try #require(made["token"])
  }

  func phone(of subject: String?, level: Level = .appAttested) throws -> Phone {
    let phone = try Phone.make(verifier)
    var record = DeviceRecord(
      id: phone.id, state: .active, subject: subject.flatMap { Subject($0) }, name: nil, platform: .ios,
      keys: phone.keys, level: level,
      verification: level == .hardwareAttested ? .hardware : .app, createdAt: now)
    record.activatedAt = now
    try store.insert(record)
    return phone
  }

  func token(_ phone: Phone) throws -> String {
    let device = try #require(try store.device(phone.id))
    return try transaction(from: .gate).token(for: device).text
  }

  func revoke(_ phone: Phone) throws {
    #expect(try answer(RevokePhone(id: phone.id)).code == nil)
  }

  /// As after an answer of its to a desktop.
  func comeNear(_ phone: Phone) throws {
    memory.presence.keep(
      PresencePass(
        device: phone.id, key: phone.keys.device.hash, subject: try store.device(phone.id)?.subject,
        desktop: .test(7), at: now))
  }

  // MARK: What they do

  /// - Parameter more: members of the body, behind the plain ones.
  func ask(
    _ service: String, operation: String = "mud.promote", target: String = #"{"character":"Gandalf"}"#,
    subject: String? = "frodo", requester: String = "ops", text: String = "Promote?", _ more: String = ""
  ) throws -> Answer {
    let subject = subject.map { #","subject":"\#($0)""# } ?? ""
    let body = #"""
      {"operation":"\#(operation)","target":\#(target),"text":"\#(text)"\#(subject),
       "requester":{"id":"\#(requester)"}\#(more)}
      """#
    switch Self.request(service, body) {
    case .success(let call): return try answer(call)
    case .failure(let error): return Answer(json: [], refusal: RegistryRefusal(.badRequest, error.step))
    }
  }

  private static func request(_ service: String, _ body: String) -> Result<RequestApproval, FormError> {
    let bytes = Array(body.utf8)
    do throws(FormError) {
      let form = try Form(body: bytes.span, checkedBy: P256Verifier())
      return .success(try RequestApproval(bearer: service, form: form))
    } catch {
      return .failure(error)
    }
  }

  func show(_ approval: String, _ service: String) throws -> Answer {
    try answer(ShowApproval(bearer: service, approval: approvalID(approval)))
  }

  func list(_ phone: Phone, after: String? = nil) throws -> Answer {
    try answer(ListApprovals(bearer: token(phone), after: after))
  }

  /// What the phone sends; `forge` changes what is signed, `send` what is sent.
  func vote(
    _ phone: Phone, on asked: Answer, _ decision: Decision = .approve, code: String? = nil,
    token given: String? = nil, forge: (inout SignedVote) -> Void = { _ in },
    send: (inout SignedVote) -> Void = { _ in }
  ) throws -> Answer {
    let id = try asked.approval
    let record = try #require(try store.approval(id))
    var sent = SignedVote(
      server: server, request: id, device: phone.id, decision: decision,
      summaryHash: SHA256.hash(record.summary.span),
      code: code ?? (decision == .approve ? record.matchCode.text : ""), issuedAt: UnixSeconds(now),
      expiresAt: record.expiresAt)
    var signed = sent
    forge(&signed)
    let signature = try phone.sign(signed.message)
    send(&sent)
    let code = sent.code.isEmpty ? "" : #","match_code":"\#(sent.code)""#
    let body = #"""
      {"device_id":"\#(sent.device.text)","decision":"\#(sent.decision.rawValue)"\#(code),
       "issued_at":\#(sent.issuedAt.value),"signature":"\#(signature)"}
      """#
    return try answer(
      DecideApproval(bearer: given ?? token(phone), approval: sent.request, form: form(body)))
  }

  func use(
    _ lease: String, _ service: String, as use: String, operation: String = "mud.promote",
    target: String = #"{"character":"Gandalf"}"#
  ) throws -> Answer {
    let body = #"{"operation":"\#(operation)","target":\#(target),"use_id":"\#(use)"}"#
    return try answer(UseLease(bearer: service, lease: leaseID(lease), form: form(body)))
  }
}

/// As an operator orders it.
private struct RevokePhone: RegistryCall {
  let id: DeviceID

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.device(id)
    try transaction.revoke(&device)
    return .reply(.answered([]))
  }
}

/// What a device signs, and what it sends of that.
struct SignedVote {
  var server: ServerID
  var request: ApprovalID
  var device: DeviceID
  var decision: Decision
  var summaryHash: Bytes32
  var code: String
  var issuedAt: UnixSeconds
  var expiresAt: UnixSeconds

  var message: DeviceMessage {
    let code = decision == .approve ? MatchCode(code) ?? .none : .none
    guard let vote = Vote(decision, matchCode: code) else { fatalError("a vote with a good code") }
    return .approval(
      server: server, request: request, device: device, vote: vote, summaryHash: summaryHash,
      issuedAt: issuedAt, expiresAt: expiresAt)
  }
}

final class Phone: Sendable {
  let id: DeviceID
  let keys: DeviceKeys
  private let key: SigningKey
  private let deviceKey: SigningKey

  /// With new keys.
  static func make(
    _ verifier: P256Verifier = P256Verifier(), id: DeviceID = DeviceID(random: KernelEntropy())
  ) throws -> Phone {
    let key = try SigningKey.generate(.p256)
    let deviceKey = try SigningKey.generate(.p256)
    let points = [try deviceKey.publicPoint(), try key.publicPoint()]
    let made = points.compactMap { DevicePublicKey($0.span, checkedBy: verifier) }
    return Phone(id, key, deviceKey, try #require(DeviceKeys(device: made[0], approval: made[1])))
  }

  private init(
    _ id: DeviceID, _ key: consuming SigningKey, _ deviceKey: consuming SigningKey, _ keys: DeviceKeys
  ) {
    self.id = id
    self.key = key
    self.deviceKey = deviceKey
    self.keys = keys
  }

  /// With its device key; base64url.
  func signByDevice(_ message: DeviceMessage) throws -> String {
    let signature = try deviceKey.sign(message.bytes)
    return Base64.encodeURL(signature.span)
  }

  /// With its approval key; base64url.
  func sign(_ message: DeviceMessage) throws -> String {
    let signature = try key.sign(message.bytes)
    return Base64.encodeURL(signature.span)
  }
}

struct Answer {
  let json: [UInt8]
  let refusal: RegistryRefusal?

  var code: RefusalCode? { refusal?.code }
  var step: String? { refusal?.step }
  var value: JSONValue? { try? JSONValue(parsing: json.span, depthLimit: 16) }

  subscript(name: String) -> String? { value?.object?[name]?.string }
  func integer(_ name: String) -> Int64? { value?.object?[name]?.integer }
  func object(_ name: String) -> JSONObject? { value?.object?[name]?.object }
  func array(_ name: String) -> [JSONValue] { value?.object?[name]?.array ?? [] }

  /// What was asked for; empty after a refusal.
  var id: String { self["id"] ?? "" }
  var approval: ApprovalID { get throws { try approvalID(id) } }

  /// Of a lease in a result.
  var lease: String? { object("lease")?["id"]?.string }
}

func approvalID(_ text: String) throws -> ApprovalID { try #require(ApprovalID(text)) }
func leaseID(_ text: String) throws -> LeaseID { try #require(LeaseID(text)) }
