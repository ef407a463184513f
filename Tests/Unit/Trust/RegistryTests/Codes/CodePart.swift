/// Services that ask for codes and phones that give them, over the part of approvals.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

final class CodePart {
  let part: ApprovalPart
  let service: String

  init() throws {
    part = try ApprovalPart()
    service = try part.service("web", scope: "codes")
  }

  var store: RegistryDatabase { part.store }

  func phone(of subject: String? = "frodo", level: Level = .appAttested) throws -> Phone {
    let phone = try part.phone(of: subject, level: level)
    try change(phone) { $0.attestedAt = part.now }
    return phone
  }

  func change(_ phone: Phone, _ body: (inout DeviceRecord) -> Void) throws {
    var record = try #require(try store.device(phone.id))
    body(&record)
    try store.update(record)
  }

  // MARK: What the service says

  /// - Parameter whom: members of the body that say whose login it is.
  func challenge(
    _ whom: String = #""subject":"frodo""#, login: String = "login-1", text: String = "Telnet login",
    service: String? = nil
  ) throws -> Answer {
    let body = #"{\#(whom),"login_id":"\#(login)","text":"\#(text)"}"#
    do throws(FormError) {
      return try answer(ChallengeCode(bearer: service ?? self.service, form: try form(body)))
    } catch {
      return Answer(json: [], refusal: RegistryRefusal(.badRequest, error.step))
    }
  }

  func verify(
    _ asked: Answer, _ code: String, login: String = "login-1", service: String? = nil
  ) throws -> Answer {
    let body = #"""
      {"challenge_id":"\#(asked["challenge_id"] ?? "")","login_id":"\#(login)","otp_code":"\#(code)"}
      """#
    do throws(FormError) {
      return try answer(VerifyCode(bearer: service ?? self.service, form: try form(body)))
    } catch {
      return Answer(json: [], refusal: RegistryRefusal(.badRequest, error.step))
    }
  }

  // MARK: What the phone says

  func list(_ phone: Phone, after: String? = nil) throws -> Answer {
    try part.answer(ListCodes(bearer: part.token(phone), after: after))
  }

  func nonce(_ phone: Phone, _ asked: Answer) throws -> Bytes32 {
    let items = try list(phone).array("items").compactMap(\.object)
    let item = items.first { $0["challenge_id"]?.string == asked["challenge_id"] }
    let text = try #require(item?["nonce"]?.string)
    return try #require(Bytes32(hex: text))
  }

  /// `forge` changes what is signed, `send` what is sent.
  /// - Parameter spent: the nonce was asked for by itself.
  func issue(
    _ phone: Phone, _ asked: Answer, nonce: Bytes32? = nil, spent: Bool = false, token: String? = nil,
    forge: (inout SignedIssue) -> Void = { _ in }, send: (inout SignedIssue) -> Void = { _ in }
  ) throws -> Answer {
    var sent = SignedIssue(
      server: part.server, device: phone.id,
      challenge: try #require(CodeChallengeID(asked["challenge_id"] ?? "")),
      nonce: try nonce ?? self.nonce(phone, asked), signedAt: UnixSeconds(part.now),
      signals: Array(#"{"tz":"Europe/Vienna"}"#.utf8))
    var signed = sent
    forge(&signed)
    let signature = try phone.signByDevice(signed.message)
    send(&sent)
    let form = try IssueCodeForm(form(sent.body(signature)))
    return try answer(
      IssueCode(
        bearer: token ?? part.token(phone), form, nonce: spent ? SpentNonce(spent: sent.nonce) : nil))
  }

  /// Six digits.
  func code(_ phone: Phone, _ asked: Answer) throws -> String {
    try #require(try issue(phone, asked)["otp_code"])
  }

  func count(_ subject: String = "frodo") throws -> Int {
    let subject = try #require(Subject(subject))
    return try store.wrongCodes(of: .subject(subject)).count
  }

  // MARK: Helpers

  private func answer(_ call: any RegistryCall) throws(FormError) -> Answer {
    do { return try part.answer(call) } catch { fatalError("the store fails: \(error)") }
  }

  private func form(_ text: String) throws(FormError) -> Form {
    do { return try part.form(text) } catch { throw FormError("json") }
  }
}

/// What a phone signs for a code, and what it sends of that.
struct SignedIssue {
  var server: ServerID
  var device: DeviceID
  var challenge: CodeChallengeID
  var nonce: Bytes32
  var signedAt: UnixSeconds
  var signals: [UInt8]

  var message: DeviceMessage {
    guard let signals = Signals(signals) else { fatalError("signals in their form") }
    return .otpIssue(
      server: server, device: device, challenge: challenge, nonce: nonce, signedAt: signedAt,
      signalsHash: signals.hash)
  }

  func body(_ signature: String) -> String {
    #"""
    {"device_id":"\#(device.text)","challenge_id":"\#(challenge.text)","nonce":"\#(nonce.hex)",
     "signed_at":\#(signedAt.value),"signals":"\#(Base64.encodeURL(signals.span))","signature":"\#(signature)"}
    """#
  }
}

/// Six other digits.
func another(than code: String) -> String {
  let number = (Int(code) ?? 0) + 1
  let digits = String(number % 1_000_000)
  return String(repeating: "0", count: 6 - digits.utf8.count) + digits
}
