/// The part of devices on a fixed clock, with phones that are enrolled, confirmed and attested at will.
import Addresses
import Bytes
import Crypto
import DeviceTokens
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

final class DevicePart {
  let registry: RegistryHarness
  private var lastNonce: UInt64 = 0

  init(_ registry: RegistryHarness) {
    self.registry = registry
  }

  var server: ServerID { registry.server }

  /// A new one each time, as if it had been issued and spent.
  func nonce() -> Bytes32 {
    lastNonce += 1
    return Bytes32(words: 1, 2, 3, lastNonce)
  }

  /// What the door is told.
  var doorEffects: [RegistryEffect] {
    registry.effects.filter { effect in
      switch effect {
      case .deviceActive, .deviceGone, .attestedKeyRevoked: true
      default: false
      }
    }
  }

  static let home = Origin.address(IPAddress(v4: 0x0A00_0001))

  // MARK: What phones say

  func enroll(
    _ phone: TestPhone, evidence: KeyIdentifier? = nil, from origin: Origin = home,
    _ change: (inout Body) throws -> Void = { _ in }
  ) throws -> Said {
    try enroll(phone, verified: evidence.map { .appAttest($0) }, from: origin, change)
  }

  func enroll(
    _ phone: TestPhone, verified evidence: VerifiedEvidence?, from origin: Origin = home,
    _ change: (inout Body) throws -> Void = { _ in }
  ) throws -> Said {
    let nonce = nonce()
    var body = try phone.enrollBody(server, nonce: nonce)
    try change(&body)
    let form = try EnrollForm(body.form)
    let said = try Said(
      registry.run(
        Enroll(form, nonce: SpentNonce(spent: nonce), evidence: evidence), from: origin))
    if let id = said["device_id"] { phone.id = DeviceID(id) }
    return said
  }

  func attest(_ phone: TestPhone, by key: KeyIdentifier) throws -> Said {
    try attest(phone, verified: .appAttest(key))
  }

  func attest(_ phone: TestPhone, verified evidence: VerifiedEvidence) throws -> Said {
    let found = try registry.run(FindAttestedKeys(phone.required, on: evidence.platform), from: Self.home)
    guard case .reply(.keys(let keys)) = found else {
      return try Said(found)
    }
    return try Said(
      registry.run(Attest(phone.required, keys: keys, evidence: evidence), from: Self.home))
  }

  /// Evidence in the phone's name was refused.
  @discardableResult
  func fail(
    _ phone: TestPhone, at step: String = "jws_parts", blaming blame: AttestationBlame = .sender,
    signedBy signer: TestPhone? = nil, from origin: Origin = home
  ) throws -> Said {
    let form = try AttestForm(phone.attestBody(server, nonce: nonce(), signedBy: signer).form)
    return try Said(
      registry.run(NoteFailedAttestation(form).because(step, blaming: blame), from: origin))
  }

  func token(
    _ phone: TestPhone, audience: String? = nil, _ change: (inout Body) -> Void = { _ in }
  ) throws -> Said {
    let nonce = nonce()
    var body = try phone.tokenBody(server, nonce: nonce, audience: audience)
    change(&body)
    return try Said(
      registry.run(IssueToken(TokenForm(body.form), nonce: SpentNonce(spent: nonce)), from: Self.home))
  }

  func rotate(
    _ phone: TestPhone, to other: TestPhone, evidence: KeyIdentifier? = nil,
    _ change: (inout Body) throws -> Void = { _ in }
  ) throws -> Said {
    try rotate(phone, to: other, verified: evidence.map { .appAttest($0) }, change)
  }

  func rotate(
    _ phone: TestPhone, to other: TestPhone, verified evidence: VerifiedEvidence?,
    _ change: (inout Body) throws -> Void = { _ in }
  ) throws -> Said {
    let nonce = nonce()
    var body = try phone.rotateBody(server, to: other, nonce: nonce)
    try change(&body)
    let form = try RotateForm(body.form)
    let said = try Said(
      registry.run(
        Rotate(form, nonce: SpentNonce(spent: nonce), evidence: evidence), from: Self.home))
    if said.code == nil { other.id = phone.id }
    return said
  }

  func read(_ token: String) throws -> Said {
    try Said(registry.run(ReadSelf(bearer: token), from: Self.home))
  }

  /// - Parameter signer: nil for one that is not signed.
  func beat(
    _ token: String, signedBy signer: TestPhone?, rooted: Bool? = nil, patchLevel: String? = nil
  ) throws -> Said {
    let nonce = nonce()
    var json = #"{"app_version":"2.10""#
    if let patchLevel { json += #","os_patch_level":"\#(patchLevel)""# }
    if let rooted { json += #","rooted":\#(rooted)"# }
    if let signer {
      let message = DeviceMessage.deviceAuth(
        server: server, device: try signer.required, nonce: nonce, for: .heartbeat)
      json += #","nonce":"\#(nonce.hex)","signature":"\#(try signer.sign(message))""#
    }
    let bytes = Array((json + "}").utf8)
    let form = try HeartbeatForm(Form(body: bytes.span, checkedBy: P256Verifier()))
    return try Said(
      registry.run(
        Heartbeat(bearer: token, form, nonce: signer == nil ? nil : SpentNonce(spent: nonce)),
        from: Self.home))
  }

  // MARK: What operators say

  func order(_ verb: String, _ arguments: String) throws -> Said {
    if verb == "devices-forget" {
      let ended = try order("devices-end", arguments)
      if ended.code != nil { return ended }
    }
    let bytes = Array(arguments.utf8)
    let value = try JSONValue(parsing: bytes.span, depthLimit: 4)
    let call = try OperatorOrder.call(verb, #require(value.object))
    return try Said(registry.runWhole(call, from: .process(user: 0, process: 1)))
  }

  @discardableResult
  func confirm(_ phone: TestPhone, subject: String? = nil) throws -> Said {
    let more = subject.map { #","subject":"\#($0)""# } ?? ""
    return try order("devices-confirm", #"{"id":"\#(try phone.required.text)"\#(more)}"#)
  }

  @discardableResult
  func revoke(_ phone: TestPhone) throws -> Said {
    try order("devices-revoke", #"{"id":"\#(try phone.required.text)"}"#)
  }

  /// Enrolled and confirmed.
  func activePhone(
    _ subject: String? = nil, evidence: KeyIdentifier? = nil, hasApprovalKey: Bool = true
  ) throws -> TestPhone {
    let phone = try TestPhone(hasApprovalKey: hasApprovalKey)
    _ = try enroll(phone, evidence: evidence)
    try confirm(phone, subject: subject)
    return phone
  }

  func record(_ phone: TestPhone) throws -> DeviceRecord {
    try #require(try registry.store.device(phone.required))
  }
}

extension TestPhone {
  var required: DeviceID {
    get throws { try #require(id) }
  }
}

func appKey(_ number: UInt64) -> KeyIdentifier { KeyIdentifier(Bytes32(words: number, 9, 9, 9)) }

/// What came back, as a peer sees it.
struct Said {
  let code: RefusalCode?
  let step: String?
  let retryAfter: Duration?
  let value: JSONValue
  /// As it goes out; empty after a refusal.
  let json: [UInt8]

  init(_ outcome: Outcome) throws {
    let reply: Reply
    switch outcome {
    case .reply(let said), .erased(let said): reply = said
    case .wait, .goOn, .copy:
      Issue.record("it waits")
      throw FormError("waits")
    }
    let bytes = reply.json ?? []
    json = bytes
    value = bytes.isEmpty ? .null : try JSONValue(parsing: bytes.span, depthLimit: 8)
    if case .refused(let refusal) = reply {
      (code, step, retryAfter) = (refusal.code, refusal.step, refusal.retryAfter)
    } else {
      (code, step, retryAfter) = (nil, nil, nil)
    }
  }

  subscript(name: String) -> String? { value.object?[name]?.string }
}
