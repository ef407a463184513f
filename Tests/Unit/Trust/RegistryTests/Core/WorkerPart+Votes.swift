/// Phones, services and requests of a registry whose disk may break.
import Bytes
import Crypto
import DeviceWire
import JSON
import Kit
import PortcullisProtocol
import System
import Testing

@testable import Registry

extension WorkerPart {
  var running: RegistryWorker {
    guard let worker else { fatalError("started") }
    return worker
  }
  var store: RegistryDatabase { running.store }

  func form(_ text: String) throws -> Form {
    let bytes = Array(text.utf8)
    return try Form(body: bytes.span, checkedBy: P256Verifier())
  }

  func phone() throws -> Phone {
    let phone = try Phone.make()
    try store.insert(
      DeviceRecord(
        id: phone.id, state: .active, subject: Subject("frodo"), name: nil, platform: .ios, keys: phone.keys,
        level: .appAttested, verification: .app, createdAt: clock.wall()))
    return phone
  }

  func service() throws -> String {
    let arguments = Array(#"{"name":"mud","scopes":["approvals"]}"#.utf8)
    let object = try #require(try JSONValue(parsing: arguments.span, depthLimit: 4).object)
    let reply = serve(try OperatorOrder.call("services-add", object))
    return try #require(reply?.object?["token"]?.string)
  }

  func ask(_ operation: String, _ more: String = "", of service: String) throws -> ApprovalID {
    let form = try form(
      #"""
      {"operation":"\#(operation)","target":{"character":"Gandalf"},"text":"Do it?","subject":"frodo",
       "requester":{"id":"ops"}\#(more)}
      """#)
    let reply = serve(try RequestApproval(bearer: service, form: form))
    return try approvalID(try #require(reply?.object?["id"]?.string))
  }

  func vote(_ phone: Phone, on id: ApprovalID) throws -> Reply? {
    serve(try decision(of: phone, on: id))
  }

  func decision(of phone: Phone, on id: ApprovalID) throws -> DecideApproval {
    let device = try #require(try store.device(phone.id))
    let approval = try #require(try store.approval(id))
    let vote = SignedVote(
      server: running.server, request: id, device: phone.id, decision: .approve,
      summaryHash: SHA256.hash(approval.summary.span), code: approval.matchCode.text,
      issuedAt: UnixSeconds(clock.wall()), expiresAt: approval.expiresAt)
    let body = #"""
      {"device_id":"\#(phone.id.text)","decision":"approve","match_code":"\#(vote.code)",
       "issued_at":\#(vote.issuedAt.value),"signature":"\#(try phone.sign(vote.message))"}
      """#
    let token = try running.transaction(for: .gate).token(for: device).text
    return try DecideApproval(bearer: token, approval: id, form: form(body))
  }
}

extension Reply {
  var object: JSONObject? {
    json.flatMap { try? JSONValue(parsing: $0.span, depthLimit: 16) }?.object
  }
}
