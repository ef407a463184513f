/// Whatever becomes of the disk while phones vote, a lease is used and a phone is revoked: what was answered holds in the next
/// process, and nothing of the three is there by half.
import ApprovalPolicy
import Bytes
import Crypto
import DeviceWire
import FaultDisk
import JSON
import Kit
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct VoteFaultTests {
  @Test(arguments: FaultDisk.Fault.allCases) func atEveryCall(fault: FaultDisk.Fault) throws {
    let calm = try Evening(seed: 0) { $0.countCalls() }
    #expect(calm.said == Evening.Said(hasVoted: true, usesLeft: ["1": 4, "2": 3], isRevoked: true))
    try calm.verify("all is well")
    try #require(calm.calls > 10)
    for call in 0..<calm.calls {
      let evening = try Evening(seed: UInt64(call)) { $0.plan(fault, at: call) }
      try evening.verify("\(fault) at call \(call)")
    }
  }
}

/// A lease that rests on the word of one phone, and a request that two have to agree to, both of whom do; two uses of the
/// lease; then the first phone is lost.
private final class Evening {
  /// What was answered.
  struct Said: Equatable {
    var hasVoted = false
    var usesLeft: [String: Int64] = [:]
    var isRevoked = false
  }

  private static let target = #"{"character":"Gandalf"}"#

  private let part: WorkerPart
  private let phones: [Phone]
  private let service: String
  private let lease: LeaseID
  private let request: ApprovalID
  private let vote: DecideApproval
  private(set) var said = Said()
  private(set) var calls = 0

  init(seed: UInt64, _ plan: (FaultDisk) -> Void) throws {
    let part = try WorkerPart(seed: seed)
    let policy = Array(
      #"""
      {"rules":[{"match":{"operation":"lease"},"lease":{"ttl_s":3600,"uses":5}},
                {"match":{"operation":"both"},"quorum":2,"ttl_s":300}]}
      """#.utf8)
    part.settings.approvals = try ApprovalPolicy(parsing: policy.span)
    try part.start()
    self.part = part
    phones = try (0..<2).map { _ in try part.phone() }
    service = try part.service()
    let leased = try part.ask("lease", #","lease":{"ttl_s":3600,"uses":5}"#, of: service)
    #expect(try part.vote(phones[0], on: leased)?.isAnswered == true)
    lease = try #require(try part.store.lease(of: leased)).id
    request = try part.ask("both", of: service)
    #expect(try part.vote(phones[1], on: request)?.isAnswered == true)
    vote = try part.decision(of: phones[0], on: request)

    plan(part.disk)
    try live()
    calls = part.disk.calls
    if part.disk.isDown { part.kill() } else { part.stop() }
    part.disk.restart()
  }

  private func live() throws {
    try after {
      said.hasVoted = part.serve(vote)?.isAnswered == true
    }
    for use in ["1", "2"] {
      try after { said.usesLeft[use] = try self.use(use) }
    }
    try after {
      said.isRevoked = part.serve(RevokeDevice(id: phones[0].id))?.isAnswered == true
      // It holds at once, whatever became of the disk.
      if !part.disk.isDown { #expect(part.listener.effects.contains { $0.gone == phones[0].id }) }
    }
  }

  private func after(_ body: () throws -> Void) throws {
    guard !part.disk.isDown else { return }
    part.clock.advance(.seconds(40))
    part.worker?.recoverIfDue()
    if !part.disk.isDown { try body() }
  }

  private func use(_ use: String) throws -> Int64? {
    let form = try part.form(#"{"operation":"lease","target":\#(Self.target),"use_id":"\#(use)"}"#)
    let reply = part.serve(try UseLease(bearer: service, lease: lease, form: form))
    return reply.flatMap(\.object)?["uses_left"]?.integer
  }

  func verify(_ what: String) throws {
    try part.start()
    let store = part.store
    let rows = try store.auditRows(after: 0, limit: 1000)
    func count(_ event: String) -> Int {
      rows.count { row in
        guard case .text(let text, _) = row.content else { return false }
        return String(decoding: text, as: UTF8.self).contains(#""event":"\#(event)""#)
      }
    }
    var verifier = AuditVerifier(from: try store.auditBeginning())
    for row in rows { try verifier.follow(row) }

    let device = try #require(try store.device(phones[0].id))
    let isRevoked = device.state == .revoked
    let approval = try #require(try store.approval(request))
    let votes = try store.votes(on: request).count
    let kept = try #require(try store.lease(lease))
    // The votes behind the lease and the first of the two are there from before.
    let isApproved = approval.state == .approved
    #expect(!said.hasVoted || isApproved, "\(what)")
    #expect(isApproved ? votes == 2 : votes == 1, "\(what)")
    #expect(count("approval_voted") == (isApproved ? 3 : 2), "\(what)")
    #expect(approval.state == .approved || approval.state == (isRevoked ? .cancelled : .pending), "\(what)")

    let uses = try ["1", "2"].compactMap { try store.usesLeft(after: $0, of: lease) }
    #expect(kept.usesLeft == 5 - uses.count && count("lease_used") == uses.count, "\(what)")
    for (use, left) in said.usesLeft {
      let kept = try store.usesLeft(after: use, of: lease)
      #expect(kept == Int(left), "\(what): \(use)")
    }

    #expect(!said.isRevoked || isRevoked, "\(what)")
    #expect((kept.endedAt != nil) == isRevoked && count("device_revoked") == (isRevoked ? 1 : 0), "\(what)")
    // Whoever lost the answer asks again, and hears the same.
    for use in said.usesLeft.keys { #expect(try self.use(use) == said.usesLeft[use], "\(what)") }
    #expect(try self.use("3") == (isRevoked ? nil : Int64(4 - uses.count)), "\(what)")
    part.stop()
  }
}
