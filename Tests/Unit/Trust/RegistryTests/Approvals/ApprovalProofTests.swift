/// Results that anybody can check: those that the registry gives, and what becomes of them when a byte is another.
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import Time
import Testing

@testable import Registry

@Suite struct ApprovalProofTests {
  private func step(_ json: [UInt8]) -> ApprovalProof.Step? {
    do throws(ApprovalProof.Step) {
      _ = try ApprovalProof(checking: json.span, by: P256Verifier())
      return nil
    } catch {
      return error
    }
  }

  private func step(_ json: String) -> ApprovalProof.Step? { step(Array(json.utf8)) }

  /// An approval by two devices of one subject, and its service.
  private func approved() throws -> (part: ApprovalPart, result: String) {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"quorum":2,"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try part.service()
    let phones = try (0..<2).map { _ in try part.phone(of: "frodo") }
    let asked = try part.ask(service, #","lease":{"ttl_s":60,"uses":3}"#)
    for phone in phones { _ = try part.vote(phone, on: asked) }
    return (part, String(decoding: try part.show(asked.id, service).json, as: UTF8.self))
  }

  @Test func everyStateOfTheRegistryHolds() throws {
    #expect(try step(approved().result) == nil)
    let part = try ApprovalPart()
    let service = try part.service()
    let phone = try part.phone(of: "frodo")
    let pending = try part.ask(service)
    #expect(try step(part.show(pending.id, service).json) == nil)
    part.pass(301)
    #expect(try step(part.show(pending.id, service).json) == nil)
    for decision in [Decision.deny, .report] {
      let asked = try part.ask(service)
      _ = try part.vote(phone, on: asked, decision)
      #expect(try step(part.show(asked.id, service).json) == nil)
    }
    let asked = try part.ask(service, requester: "other")
    _ = try part.answer(CancelApproval(bearer: service, approval: asked.approval))
    let result = try part.show(asked.id, service).json
    let proof = try ApprovalProof(checking: result.span, by: P256Verifier())
    #expect(proof.state == "cancelled" && proof.summary.operation == "mud.promote")
  }

  private func member(_ name: String, of result: String) throws -> String {
    let bytes = Array(result.utf8)
    let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 8).object)
    var writer = JSONWriter()
    writer.value(try #require(object[name]))
    return #""\#(name)":"# + writer.string
  }

  @Test func whatIsChangedIsNoticed() throws {
    let (part, result) = try approved()
    func changed(_ old: String, _ new: String) -> ApprovalProof.Step? {
      #expect(result.contains(old), "\(old)")
      return step(result.replacing(old, with: new, maxReplacements: 1))
    }
    let other = ApprovalID(random: KernelEntropy()).text
    #expect(try changed(member("id", of: result), #""id":"\#(other)""#) == .signature)
    #expect(try changed(member("server_id", of: result), #""server_id":"\#(other)""#) == .signature)
    #expect(changed(#""state":"approved""#, #""state":"denied""#) == nil)
    #expect(changed(#""state":"approved""#, #""state":"reported""#) == .state)
    #expect(changed(#""state":"approved""#, #""state":"pending""#) == .times)
    #expect(changed(#""state":"approved""#, #""state":"fine""#) == .form)
    #expect(changed(#""decision":"approve""#, #""decision":"deny""#) == .form)
    let expires = part.now.seconds + 300
    #expect(changed(#""expires_at":\#(expires)"#, #""expires_at":\#(expires - 1)"#) == .signature)
    #expect(changed(#""expires_at":\#(expires)"#, #""expires_at":\#(expires + 1)"#) == .times)
    #expect(
      changed(#""created_at":\#(part.now.seconds)"#, #""created_at":\#(part.now.seconds + 1)"#) == .times)
    #expect(
      changed(#""issued_at":\#(part.now.seconds)"#, #""issued_at":\#(part.now.seconds + 1)"#) == .signature)
    #expect(changed(#""level":"app_attested""#, #""level":"bare""#) == .level)
    #expect(changed(#""uv":"app""#, #""uv":"none""#) == .level)
    #expect(step("{}") == .form && step("[]") == .form && step("") == .form)
  }

  /// A summary that says something else, under the old signatures.
  @Test func anotherSummary() throws {
    let (part, result) = try approved()
    let bytes = Array(result.utf8)
    let text = try #require(
      try JSONValue(parsing: bytes.span, depthLimit: 8).object?["summary"]?.string)
    let decoded = Base64.decode(Array(text.utf8).span) ?? []
    let summary = String(decoding: decoded, as: UTF8.self)
    func with(_ other: String) -> ApprovalProof.Step? {
      step(result.replacing(text, with: Base64.encodeURL(Array(other.utf8).span)))
    }
    #expect(with(summary.replacing("Gandalf", with: "Saruman")) == .signature)
    #expect(with(" " + summary) == .summary)
    #expect(with(summary.replacing("\(part.now.seconds)", with: "\(part.now.seconds + 1)")) == .times)
  }

  @Test func oneVoteForTwo() throws {
    let (_, result) = try approved()
    let bytes = Array(result.utf8)
    let votes = try #require(
      try JSONValue(parsing: bytes.span, depthLimit: 8).object?["votes"]?.array)
    func with(_ some: [JSONValue]) throws -> ApprovalProof.Step? {
      var writer = JSONWriter()
      writer.value(.array(some))
      return step(result.replacing(try member("votes", of: result), with: #""votes":"# + writer.string))
    }
    #expect(try with([votes[1], votes[0]]) == nil)
    #expect(try with([votes[0]]) == .quorum)
    #expect(try with([votes[0], votes[0]]) == .once)
    #expect(try with([]) == .quorum)
  }
}
