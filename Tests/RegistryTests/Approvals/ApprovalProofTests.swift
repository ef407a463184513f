/// Results that anybody can check: those that the registry gives, and what becomes of them when a byte is another.
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import System
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
  private func approved() throws -> (room: ApprovalRoom, result: String) {
    let room = try ApprovalRoom(policy: #"{"DEFAULT":{"quorum":2,"lease":{"ttl_s":60,"uses":3}}}"#)
    let service = try room.service()
    let phones = try (0..<2).map { _ in try room.phone(of: "frodo") }
    let asked = try room.ask(service, #","lease":{"ttl_s":60,"uses":3}"#)
    for phone in phones { _ = try room.vote(phone, on: asked) }
    return (room, String(decoding: try room.show(asked.id, service).json, as: UTF8.self))
  }

  @Test func everyStateOfTheRegistryHolds() throws {
    #expect(try step(approved().result) == nil)
    let room = try ApprovalRoom()
    let service = try room.service()
    let phone = try room.phone(of: "frodo")
    let pending = try room.ask(service)
    #expect(try step(room.show(pending.id, service).json) == nil)
    room.pass(301)
    #expect(try step(room.show(pending.id, service).json) == nil)
    for decision in [Decision.deny, .report] {
      let asked = try room.ask(service)
      _ = try room.vote(phone, on: asked, decision)
      #expect(try step(room.show(asked.id, service).json) == nil)
    }
    let asked = try room.ask(service, requester: "other")
    _ = try room.answer(CancelApproval(bearer: service, approval: asked.approval))
    let result = try room.show(asked.id, service).json
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
    let (room, result) = try approved()
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
    let expires = room.now.seconds + 300
    #expect(changed(#""expires_at":\#(expires)"#, #""expires_at":\#(expires - 1)"#) == .signature)
    #expect(changed(#""expires_at":\#(expires)"#, #""expires_at":\#(expires + 1)"#) == .times)
    #expect(
      changed(#""created_at":\#(room.now.seconds)"#, #""created_at":\#(room.now.seconds + 1)"#) == .times)
    #expect(
      changed(#""issued_at":\#(room.now.seconds)"#, #""issued_at":\#(room.now.seconds + 1)"#) == .signature)
    #expect(changed(#""level":"app_attested""#, #""level":"bare""#) == .level)
    #expect(changed(#""uv":"app""#, #""uv":"none""#) == .level)
    #expect(step("{}") == .form && step("[]") == .form && step("") == .form)
  }

  /// A summary that says something else, under the old signatures.
  @Test func anotherSummary() throws {
    let (room, result) = try approved()
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
    #expect(with(summary.replacing("\(room.now.seconds)", with: "\(room.now.seconds + 1)")) == .times)
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
