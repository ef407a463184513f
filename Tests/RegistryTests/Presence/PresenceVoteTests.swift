/// Approvals that ask for a phone at hand.
import DeviceWire
import PortcullisProtocol
import Testing

@testable import Registry

@Suite struct PresenceVoteTests {
  let room: ApprovalRoom
  let service: String

  init() throws {
    room = try ApprovalRoom(policy: #"{"DEFAULT":{"presence":true,"quorum":2}}"#)
    service = try room.service()
  }

  @Test func onlyThePhoneThatIsNear() throws {
    let (near, far) = (try room.phone(of: "frodo"), try room.phone(of: "frodo"))
    let asked = try room.ask(service)
    #expect(try room.vote(near, on: asked).code == .presenceRequired)
    room.comeNear(near)
    #expect(try room.vote(far, on: asked).code == .presenceRequired)
    #expect(try room.vote(near, on: asked)["state"] == "pending")
    room.pass(61)
    // The first vote was given in time, and counts.
    room.comeNear(far)
    #expect(try room.vote(far, on: asked)["state"] == "approved")
  }

  /// A pass is older than it may be; one that counts is not used up by a vote.
  @Test func passesAreOver() throws {
    let (one, two) = (try room.phone(of: "frodo"), try room.phone(of: "frodo"))
    let (first, second) = (try room.ask(service), try room.ask(service))
    for phone in [one, two] { room.comeNear(phone) }
    room.pass(60)
    #expect(try room.vote(one, on: first).code == nil)
    #expect(try room.vote(one, on: second).code == nil)
    room.pass(1)
    #expect(try room.vote(two, on: first).code == .presenceRequired)
  }

  /// No tries at a code from afar.
  @Test func codesAreNotLookedAt() throws {
    let phone = try room.phone(of: "frodo")
    _ = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    for _ in 0..<4 {
      #expect(try room.vote(phone, on: asked, code: "00").code == .presenceRequired)
    }
    #expect(try room.show(asked.id, service)["state"] == "pending")
  }

  @Test(arguments: [(Decision.deny, "denied"), (.report, "reported")])
  func toSayNoNobodyIsNear(decision: Decision, state: String) throws {
    let phone = try room.phone(of: "frodo")
    _ = try room.phone(of: "frodo")
    let asked = try room.ask(service)
    #expect(try room.vote(phone, on: asked, decision)["state"] == state)
  }
}
