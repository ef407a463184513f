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
    let part = try ApprovalPart(policy: Self.stepUp)
    let service = try part.service()
    let asked = try part.ask(service, operation: "mud.kick")
    #expect(asked["match_code"] == nil)
    #expect(try part.order("approvals-approve", id(asked), uid: 1000).code == .notFound)
    #expect(try part.order("approvals-approve", id(asked), uid: 0).code == .policyRefused)
    #expect(try part.order("approvals-approve", id(asked))["state"] == "approved")
    #expect(try part.order("approvals-approve", id(asked)).code == .notPending)
    let result = try part.show(asked.id, service)
    #expect(result["state"] == "approved" && result.object("operator")?["uid"]?.integer == 501)
  }

  @Test(arguments: [true, false])
  func anOperatorAndADevice(_ deviceIsFirst: Bool) throws {
    let part = try ApprovalPart(policy: Self.stepUp)
    let service = try part.service()
    #expect(try part.ask(service, operation: "mud.grave").code == .noDevice)
    let phone = try part.phone(of: "frodo")
    let asked = try part.ask(service, operation: "mud.grave")
    if deviceIsFirst {
      let voted = try part.vote(phone, on: asked)
      #expect(voted["state"] == "pending" && voted.integer("votes_needed") == 0)
      #expect(try part.order("approvals-approve", id(asked))["state"] == "approved")
    } else {
      #expect(try part.order("approvals-approve", id(asked))["state"] == "pending")
      #expect(try part.order("approvals-approve", id(asked), uid: 502).code == .alreadyVoted)
      #expect(try part.vote(phone, on: asked)["state"] == "approved")
    }
  }

  @Test func anOperatorDoesNotDoForADevice() throws {
    let part = try ApprovalPart()
    let service = try part.service()
    _ = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    #expect(try part.order("approvals-approve", id(asked)).code == .policyRefused)
    #expect(try part.order("approvals-deny", id(asked))["state"] == "denied")
  }

  @Test func anOperatorWhoAsksIsNotTheOneWhoConfirms() throws {
    let part = try ApprovalPart(policy: Self.stepUp)
    let body = #"{"operation":"mud.kick","target":{"character":"Gollum"},"text":"Kick him"}"#
    let asked = try part.order("approvals-request", body, uid: 501)
    #expect(try part.order("approvals-approve", id(asked), uid: 501).code == .policyRefused)
    #expect(try part.order("approvals-approve", id(asked), uid: 502)["state"] == "approved")
    part.settings.approvalOperators = [501]
    #expect(try part.order("approvals-request", body, uid: 501).code == .noDevice)
  }

  @Test func usersSeeTheirOwn() throws {
    let part = try ApprovalPart(policy: Self.stepUp)
    let service = try part.service()
    let body = #"{"operation":"mud.kick","target":{},"text":"Kick"}"#
    let asked = try part.order("approvals-request", body, uid: 1000)
    _ = try part.ask(service, operation: "mud.kick")
    #expect(try part.order("approvals-list", uid: 1000).value?.array?.count == 1)
    #expect(try part.order("approvals-list", uid: 1001).value?.array?.isEmpty == true)
    for user: UInt32 in [0, 501] {
      #expect(try part.order("approvals-list", uid: user).value?.array?.count == 2)
    }
    #expect(try part.order("approvals-list", #"{"state":"approved"}"#).value?.array?.isEmpty == true)
    let item = try part.order("approvals-list", uid: 1000).value?.array?.first?.object
    #expect(item?["service"]?.string == "host" && item?["requester"]?.string == "uid:1000")
    #expect(try part.order("approvals-cancel", id(asked), uid: 1001).code == .notFound)
    #expect(try part.order("approvals-cancel", id(asked), uid: 1000)["state"] == "cancelled")
  }

  // MARK: Services

  @Test func tokens() throws {
    let part = try ApprovalPart()
    let token = try part.service()
    #expect(token.utf8.count == 43)
    _ = try part.phone(of: "frodo")
    #expect(try part.order("services-add", #"{"name":"mud","scopes":["codes"]}"#).code == .badRequest)
    let rotated = try #require(try part.order("services-rotate", #"{"name":"mud"}"#)["token"])
    #expect(
      part.effects.count {
        if case .services(let tokens) = $0 { !tokens.keys.contains(ServiceToken.hash(token)) } else { false }
      } == 1)
    #expect(try part.ask(token).code == .tokenRejected)
    #expect(try part.ask(rotated).code == nil)
    #expect(try part.ask("").code == .tokenRejected && part.ask(rotated + "A").code == .tokenRejected)
    _ = try part.order("services-revoke", #"{"name":"mud"}"#)
    #expect(part.effects.contains(.services([:])))
    #expect(try part.ask(rotated).code == .tokenRejected)
    // The name is free again, and what the first one asked is not the second one's.
    let second = try part.service()
    #expect(try part.ask(second).code == nil)
    let listed = try part.order("services-list")
    #expect(listed.value?.array?.compactMap { $0.object?["state"]?.string } == ["revoked", "active"])
    #expect(!String(decoding: listed.json, as: UTF8.self).contains("token"))
  }

  @Test func scopes() throws {
    let part = try ApprovalPart()
    let made = try part.order("services-add", #"{"name":"web","scopes":["codes","devices.read"]}"#)
    #expect(try part.ask(try #require(made["token"])).code == .scopeMissing)
  }

  @Test(arguments: [
    #"{"name":"","scopes":["codes"]}"#, #"{"name":"a b","scopes":["codes"]}"#, #"{"name":"a","scopes":[]}"#,
    #"{"name":"a","scopes":["all"]}"#, #"{"name":"host","scopes":["codes"]}"#, #"{"name":"a"}"#,
    #"{"name":"a","scopes":["codes"],"subjects":""}"#, #"{"name":"a","scopes":["codes"],"more":"x"}"#,
  ])
  func servicesThatAreNone(_ arguments: String) throws {
    let part = try ApprovalPart()
    #expect(throws: (any Error).self) { try part.order("services-add", arguments) }
  }
}
