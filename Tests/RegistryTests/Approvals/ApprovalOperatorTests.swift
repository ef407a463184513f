/// Operators of the host: their factor, what they may see, and services.
import ApprovalPolicy
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct ApprovalOperatorTests {
  private static let stepUp = #"""
    {"rules":[{"match":{"operation":"*"},"factors":["operator"]},
              {"match":{"operation":"*.grave"},"factors":["operator","device"]}]}
    """#

  private func id(_ answer: Answer) throws -> String { #"{"id":"\#(answer.id)"}"# }

  @Test func anOperatorAlone() throws {
    let room = try ApprovalRoom(policy: Self.stepUp)
    let service = try room.service()
    let asked = try room.ask(service, operation: "mud.kick")
    #expect(asked["match_code"] == nil)
    #expect(try room.order("approvals-approve", id(asked), uid: 1000).code == .notFound)
    #expect(try room.order("approvals-approve", id(asked), uid: 0).code == .policyRefused)
    #expect(try room.order("approvals-approve", id(asked))["state"] == "approved")
    #expect(try room.order("approvals-approve", id(asked)).code == .notPending)
    let result = try room.show(asked.id, service)
    #expect(result["state"] == "approved" && result.object("operator")?["uid"]?.integer == 501)
  }

  @Test(arguments: [true, false])
  func anOperatorAndADevice(_ deviceIsFirst: Bool) throws {
    let room = try ApprovalRoom(policy: Self.stepUp)
    let service = try room.service()
    #expect(try room.ask(service, operation: "mud.grave").code == .noDevice)
    let phone = try room.phone(of: "frodo")
    let asked = try room.ask(service, operation: "mud.grave")
    if deviceIsFirst {
      let voted = try room.vote(phone, on: asked)
      #expect(voted["state"] == "pending" && voted.integer("votes_needed") == 0)
      #expect(try room.order("approvals-approve", id(asked))["state"] == "approved")
    } else {
      #expect(try room.order("approvals-approve", id(asked))["state"] == "pending")
      #expect(try room.order("approvals-approve", id(asked), uid: 502).code == .alreadyVoted)
      #expect(try room.vote(phone, on: asked)["state"] == "approved")
    }
  }

  @Test func anOperatorDoesNotDoForADevice() throws {
    let room = try ApprovalRoom()
    let service = try room.service()
    _ = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    #expect(try room.order("approvals-approve", id(asked)).code == .policyRefused)
    #expect(try room.order("approvals-deny", id(asked))["state"] == "denied")
  }

  @Test func anOperatorWhoAsksIsNotTheOneWhoConfirms() throws {
    let room = try ApprovalRoom(policy: Self.stepUp)
    let body = #"{"operation":"mud.kick","target":{"character":"Gollum"},"text":"Kick him"}"#
    let asked = try room.order("approvals-request", body, uid: 501)
    #expect(try room.order("approvals-approve", id(asked), uid: 501).code == .policyRefused)
    #expect(try room.order("approvals-approve", id(asked), uid: 502)["state"] == "approved")
    room.settings.approvalOperators = [501]
    #expect(try room.order("approvals-request", body, uid: 501).code == .noDevice)
  }

  @Test func usersSeeTheirOwn() throws {
    let room = try ApprovalRoom(policy: Self.stepUp)
    let service = try room.service()
    let body = #"{"operation":"mud.kick","target":{},"text":"Kick"}"#
    let asked = try room.order("approvals-request", body, uid: 1000)
    _ = try room.ask(service, operation: "mud.kick")
    #expect(try room.order("approvals-list", uid: 1000).value?.array?.count == 1)
    #expect(try room.order("approvals-list", uid: 1001).value?.array?.isEmpty == true)
    for user: UInt32 in [0, 501] {
      #expect(try room.order("approvals-list", uid: user).value?.array?.count == 2)
    }
    #expect(try room.order("approvals-list", #"{"state":"approved"}"#).value?.array?.isEmpty == true)
    let item = try room.order("approvals-list", uid: 1000).value?.array?.first?.object
    #expect(item?["service"]?.string == "host" && item?["requester"]?.string == "uid:1000")
    #expect(try room.order("approvals-cancel", id(asked), uid: 1001).code == .notFound)
    #expect(try room.order("approvals-cancel", id(asked), uid: 1000)["state"] == "cancelled")
  }

  // MARK: Services

  @Test func tokens() throws {
    let room = try ApprovalRoom()
    let token = try room.service()
    #expect(token.utf8.count == 43)
    _ = try room.phone(of: "frodo")
    #expect(try room.order("services-add", #"{"name":"mud","scopes":["codes"]}"#).code == .badRequest)
    let rotated = try #require(try room.order("services-rotate", #"{"name":"mud"}"#)["token"])
    #expect(
      room.effects.count {
        if case .services(let tokens) = $0 { !tokens.keys.contains(ServiceToken.hash(token)) } else { false }
      } == 1)
    #expect(try room.ask(token).code == .tokenRejected)
    #expect(try room.ask(rotated).code == nil)
    #expect(try room.ask("").code == .tokenRejected && room.ask(rotated + "A").code == .tokenRejected)
    _ = try room.order("services-revoke", #"{"name":"mud"}"#)
    #expect(room.effects.contains(.services([:])))
    #expect(try room.ask(rotated).code == .tokenRejected)
    // The name is free again, and what the first one asked is not the second one's.
    let second = try room.service()
    #expect(try room.ask(second).code == nil)
    let listed = try room.order("services-list")
    #expect(listed.value?.array?.compactMap { $0.object?["state"]?.string } == ["revoked", "active"])
    #expect(!String(decoding: listed.json, as: UTF8.self).contains("token"))
  }

  @Test func scopes() throws {
    let room = try ApprovalRoom()
    let made = try room.order("services-add", #"{"name":"web","scopes":["codes","devices.read"]}"#)
    #expect(try room.ask(try #require(made["token"])).code == .scopeMissing)
  }

  @Test(arguments: [
    #"{"name":"","scopes":["codes"]}"#, #"{"name":"a b","scopes":["codes"]}"#, #"{"name":"a","scopes":[]}"#,
    #"{"name":"a","scopes":["all"]}"#, #"{"name":"host","scopes":["codes"]}"#, #"{"name":"a"}"#,
    #"{"name":"a","scopes":["codes"],"subjects":""}"#, #"{"name":"a","scopes":["codes"],"more":"x"}"#,
  ])
  func servicesThatAreNone(_ arguments: String) throws {
    let room = try ApprovalRoom()
    #expect(throws: (any Error).self) { try room.order("services-add", arguments) }
  }
}
