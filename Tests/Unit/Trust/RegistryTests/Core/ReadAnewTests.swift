/// What is in memory beside the store, thrown away in the middle of a life and read anew: the answers are the same.
import ApprovalPolicy
import Bytes
import DeviceTokens
import DeviceWire
import JSON
import Kit
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct ReadAnewTests {
  private let part: WorkerPart
  private let worker: RegistryWorker

  init() throws {
    part = try WorkerPart()
    let policy = Array(
      #"""
      {"rules":[{"match":{"operation":"lease"},"lease":{"ttl_s":3600,"uses":5}},
                {"match":{"operation":"other"},"ttl_s":300}]}
      """#.utf8)
    part.settings.approvals = try ApprovalPolicy(parsing: policy.span)
    part.settings.doorLevel = .bare
    try part.start()
    worker = part.running
  }

  /// What operators, a phone and a service are told.
  private func answers(_ phone: String, _ service: String, _ approvals: [ApprovalID]) throws -> [String] {
    let nothing = try #require(try JSONValue(parsing: Array("{}".utf8).span, depthLimit: 4).object)
    var calls: [any RegistryCall] = try ["devices-list", "services-list", "audit-list"].map {
      try OperatorOrder.call($0, nothing)
    }
    calls.append(ListApprovals(bearer: phone, after: nil))
    for approval in approvals { calls.append(ShowApproval(bearer: service, approval: approval)) }
    return part.serve(calls).map { String(decoding: $0?.json ?? [], as: UTF8.self) }
  }

  @Test func answersAreTheSame() throws {
    let phone = try part.phone()
    let service = try part.service()
    let leased = try part.ask("lease", #","lease":{"ttl_s":3600,"uses":5}"#, of: service)
    let token = try worker.transaction(for: .gate).token(for: #require(try part.store.device(phone.id))).text
    #expect(try part.vote(phone, on: leased)?.isAnswered == true)
    part.clock.advance(.seconds(7))
    let pending = try part.ask("other", of: service)
    let before = try answers(token, service, [leased, pending])
    #expect(before.allSatisfy { $0.count > 10 })
    let (time, place) = (worker.time.now(), try part.store.lastPlace())
    let told = part.listener.effects.count
    try worker.readAnew()
    #expect(try answers(token, service, [leased, pending]) == before)
    #expect(worker.time.now() >= time)
    let device = try #require(try part.store.device(phone.id))
    #expect(part.listener.effects.dropFirst(told).contains(.deviceActive(device.active)))
    #expect(part.listener.effects.dropFirst(told).contains(.keySet(worker.tokens.ring.jwks)))
    // And life goes on: a vote with the old token, and the next place behind the last.
    #expect(try part.vote(phone, on: pending)?.isAnswered == true)
    _ = try part.ask("other", of: service)
    #expect(try part.store.openApprovals(for: phone.id, after: place).map(\.place) == [place + 1])
    part.stop()
  }

  /// As at a start: rates and what was not counted yet.
  @Test func whatARestartForgetsIsForgotten() throws {
    worker.devices.refusals.note(.stranger(.tokenRejected), at: worker.time.now())
    for _ in 0..<DeviceMemory.failuresAnHour {
      worker.devices.noteFailure(.test(7), from: .gate, now: worker.time.now())
    }
    #expect(worker.devices.waitToAttest(.test(7), from: .gate, now: worker.time.now()) != nil)
    try worker.readAnew()
    #expect(worker.devices.refusals.due == nil)
    #expect(worker.devices.waitToAttest(.test(7), from: .gate, now: worker.time.now()) == nil)
    part.stop()
  }

  @Test func whoWaitsAsksAgain() throws {
    let (poll, revocation) = (WorkerPart.Answer(), WorkerPart.Answer())
    part.submit(Wait(), poll, wait: .seconds(60))
    part.submit(GoOn(), revocation)
    #expect(poll.reply == nil && worker.waiters.count == 1 && worker.ready.count == 1)
    try worker.readAnew()
    #expect(poll.reply?.code == "store_unavailable" && worker.waiters.count == 0)
    // A revocation that has begun comes to its end.
    part.goOn()
    #expect(revocation.reply?.isAnswered == true)
    part.stop()
  }

  /// Orders that no store has yet, and what others have said.
  @Test func whatWasOrderedHolds() throws {
    let phone = try part.phone()
    worker.revocations.add(RequestHandle(number: 99), RevokeDevice(id: phone.id))
    let serial = AndroidSerial([7])
    worker.devices.revokedSerials = RevokedSerials(
      digest: Bytes32(words: 1, 2, 3, 4), contains: { $0 == serial }, all: { [serial] })
    worker.devices.endedKeys.note(appKey(3), now: worker.time.now())
    let told = part.listener.effects.count
    try worker.readAnew()
    let device = try #require(try part.store.device(phone.id))
    let effects = part.listener.effects.dropFirst(told).filter { $0.isAbout(phone.id) }
    #expect(effects == [.deviceActive(device.active), .deviceRevoked(phone.id)])
    #expect(worker.devices.revokedSerials?.contains(serial) == true)
    #expect(worker.devices.endedKeys.contains(appKey(3), now: worker.time.now()))
    part.stop()
  }
}

extension RegistryEffect {
  fileprivate func isAbout(_ id: DeviceID) -> Bool {
    if case .deviceActive(let device) = self { return device.id == id }
    return gone == id
  }
}

private struct Wait: RegistryCall {
  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    .wait(.approvals(of: .test(7)), by: .device(.test(7)), otherwise: .answered([]))
  }
}

/// A revocation in two pieces.
private struct GoOn: RegistryCall {
  var isLast = false
  var urgency: Urgency { .revocation }

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    isLast ? .reply(.answered([])) : .goOn(GoOn(isLast: true))
  }
}
