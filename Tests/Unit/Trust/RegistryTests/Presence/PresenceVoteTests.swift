/// Approvals that ask for a phone at hand.
import DeviceWire
import PortcullisProtocol
import Testing

@testable import Registry

@Suite struct PresenceVoteTests {
  let part: ApprovalPart
  let service: String

  init() throws {
    part = try ApprovalPart(policy: #"{"DEFAULT":{"presence":true,"quorum":2}}"#)
    service = try part.service()
  }

  @Test func onlyThePhoneThatIsNear() throws {
    let (near, far) = (try part.phone(of: "frodo"), try part.phone(of: "frodo"))
    let asked = try part.ask(service)
    #expect(try part.vote(near, on: asked).code == .presenceRequired)
    try part.comeNear(near)
    #expect(try part.vote(far, on: asked).code == .presenceRequired)
    #expect(try part.vote(near, on: asked)["state"] == "pending")
    part.pass(61)
    // The first vote was given in time, and counts.
    try part.comeNear(far)
    #expect(try part.vote(far, on: asked)["state"] == "approved")
  }

  /// A pass is older than it may be; one that counts is not used up by a vote.
  @Test func passesAreOver() throws {
    let (one, two) = (try part.phone(of: "frodo"), try part.phone(of: "frodo"))
    let (first, second) = (try part.ask(service), try part.ask(service))
    for phone in [one, two] { try part.comeNear(phone) }
    part.pass(60)
    #expect(try part.vote(one, on: first).code == nil)
    #expect(try part.vote(one, on: second).code == nil)
    part.pass(1)
    #expect(try part.vote(two, on: first).code == .presenceRequired)
  }

  /// No tries at a code from afar.
  @Test func codesAreNotLookedAt() throws {
    let phone = try part.phone(of: "frodo")
    _ = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    for _ in 0..<4 {
      #expect(try part.vote(phone, on: asked, code: "00").code == .presenceRequired)
    }
    #expect(try part.show(asked.id, service)["state"] == "pending")
  }

  @Test(arguments: [(Decision.deny, "denied"), (.report, "reported")])
  func toSayNoNobodyIsNear(decision: Decision, state: String) throws {
    let phone = try part.phone(of: "frodo")
    _ = try part.phone(of: "frodo")
    let asked = try part.ask(service)
    #expect(try part.vote(phone, on: asked, decision)["state"] == state)
  }
}
