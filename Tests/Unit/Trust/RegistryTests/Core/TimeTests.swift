/// The registry's time over restarts, and what is done when it comes.
import Bytes
import DeviceWire
import FaultDisk
import Kit
import PortcullisProtocol
import Synchronization
import Time
import Testing

@testable import Registry

@Suite struct TimeTests {
  /// Notes when it is asked, and says when it wants to be asked again.
  private final class Chores: Upkeep {
    let state = Mutex((asked: [UnixTime](), ended: 0, next: UnixTime?.none))

    func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? {
      let now = transaction.now
      return state.withLock { state in
        state.asked.append(now)
        return state.next
      }
    }

    func endAll(_ transaction: inout Transaction) throws(CallFailure) {
      try transaction.store.setValue("v9", [1])
      transaction.announce(.keySet([]))
      state.withLock { $0.ended += 1 }
    }
  }

  private struct Look: RegistryCall {
    let seen: Seen
    var reminder: Duration?
    final class Seen: Sendable { let time = Mutex(UnixTime(milliseconds: 0)) }

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      let now = transaction.now
      seen.time.withLock { $0 = now }
      if let reminder { transaction.remind(at: now.adding(reminder)) }
      return .reply(.answered([]))
    }
  }

  private func time(_ part: WorkerPart) -> UnixTime {
    let seen = Look.Seen()
    _ = part.serve(Look(seen: seen))
    return seen.time.withLock { $0 }
  }

  @Test func aStartAnHourBehindEndsWhatIsOpenAndPromisesNoTimeAgain() throws {
    let part = try WorkerPart()
    let chores = Chores()
    part.upkeep = [chores]
    try part.start()
    part.clock.advance(.seconds(500))
    let before = time(part)
    part.kill()
    part.disk.restart()
    part.clock.setWall(by: .seconds(-3600))
    try part.start()
    #expect(chores.state.withLock { $0.ended } == 1)
    #expect(part.listener.events == [.clockBehind(by: .seconds(3600))])
    #expect(part.listener.effects.contains(.keySet([])))
    let after = time(part)
    #expect(after > before && after.milliseconds <= before.milliseconds + 2000)
    part.clock.advance(.seconds(10))
    #expect(time(part).milliseconds >= after.milliseconds + 10_000)
    part.stop()
    #expect(try part.values()["v9"] != nil)
    #expect(try part.auditRows().count == 1)
  }

  /// A lease of an hour, an hour without a request, and a clock that is set back by it.
  @Test(arguments: [true, false]) func quietHoursAreNotGivenBack(isStopped: Bool) throws {
    let part = try WorkerPart()
    let chores = Chores()
    part.upkeep = [chores]
    try part.start()
    part.serve([Put(name: "v0")])
    part.clock.advance(.seconds(isStopped ? 3300 : 3600))
    if isStopped {
      part.stop()
    } else {
      part.worker?.tendIfDue()
      part.kill()
      part.disk.restart()
    }
    #expect(chores.state.withLock { $0.ended } == 0)
    part.clock.setWall(by: .seconds(-3300))
    try part.start()
    #expect(chores.state.withLock { $0.ended } == 1)
    #expect(part.listener.events.contains(.clockBehind(by: .seconds(3300))))
    part.stop()
  }

  /// What was not kept was not promised, but what comes next is.
  @Test func theTimeOfAGroupThatWasNotKeptIsStoredWithTheNext() throws {
    let part = try WorkerPart()
    try part.start()
    part.serve([Put(name: "v0")])
    part.clock.advance(.seconds(5))
    part.disk.countCalls()
    part.serve([Put(name: "v0")])
    let calls = part.disk.calls
    try #require(calls > 1)
    part.clock.advance(.seconds(5))
    // The last call is the commit's sync.
    part.disk.plan(.error, at: calls - 1)
    #expect(part.serve(Put(name: "v1"))?.code == "store_unavailable")
    part.clock.advance(.milliseconds(10))
    let promised = time(part)
    #expect(part.serve(Put(name: "v2"))?.isAnswered == true)
    part.stop()
    #expect(try part.storedTime().promised >= promised)
  }

  /// The console asks it each second, on a gate that does nothing else.
  @Test func whatWaitsIsReadWithoutAWrite() throws {
    let part = try WorkerPart()
    try part.start()
    part.serve([Put(name: "v0")])
    let before = try part.storedTime()
    part.clock.advance(.seconds(5))
    guard case .value? = part.serve(WaitingForOperators()) else { throw FormError("no value") }
    part.disk.countCalls()
    part.clock.advance(.seconds(5))
    guard case .value? = part.serve(WaitingForOperators()) else { throw FormError("no value") }
    #expect(part.disk.calls == 0)
    guard case .value? = part.serve(BrowsePairings()) else { throw FormError("no value") }
    #expect(part.disk.calls > 0)
    part.stop()
    #expect(try part.storedTime() > before)
  }

  /// Rows that upkeep writes are dated as well.
  @Test func theAuditsTimesNeverGoBack() throws {
    struct Recording: Upkeep {
      func tend(_ transaction: inout Transaction) throws(CallFailure) -> UnixTime? {
        try transaction.record(.init("tended"))
        return nil
      }

      func endAll(_ transaction: inout Transaction) throws(CallFailure) {}
    }
    let part = try WorkerPart()
    try part.start()
    part.serve([Put(name: "v0")])
    part.kill()
    part.upkeep = [Recording()]
    try part.start()
    part.clock.advance(.seconds(100))
    part.worker?.tendIfDue()
    for _ in 0..<2 {
      part.kill()
      part.clock.setWall(by: .seconds(-3600))
      try part.start()
    }
    part.serve([Put(name: "v1")])
    part.stop()
    let times = try part.auditRows().map(\.at.value)
    #expect(times.count == 5 && times == times.sorted(), "\(times)")
  }

  @Test func aMinuteBehindEndsNothing() throws {
    let part = try WorkerPart()
    let chores = Chores()
    part.upkeep = [chores]
    try part.start()
    let before = time(part)
    part.stop()
    part.clock.setWall(by: .seconds(-59))
    try part.start()
    #expect(chores.state.withLock { $0.ended } == 0)
    #expect(time(part) > before)
    part.stop()
  }

  @Test func partsAreAskedWhenTheyWantedAndWhenTheyAreReminded() throws {
    let part = try WorkerPart()
    let chores = Chores()
    part.upkeep = [chores]
    try part.start()
    let worker = try #require(part.worker)
    func asked() -> Int { chores.state.withLock { $0.asked.count } }
    worker.tendIfDue()
    #expect(asked() == 1)
    worker.tendIfDue()
    part.clock.advance(.seconds(30))
    worker.tendIfDue()
    #expect(asked() == 1)
    _ = part.serve(Look(seen: .init(), reminder: .seconds(5)))
    _ = part.serve(Look(seen: .init(), reminder: .seconds(50)))
    part.clock.advance(.seconds(4))
    worker.tendIfDue()
    #expect(asked() == 1)
    part.clock.advance(.seconds(1))
    worker.tendIfDue()
    #expect(asked() == 2)
    // A piece only: it wants to be asked at once.
    chores.state.withLock { $0.next = $0.asked.last }
    part.clock.advance(.seconds(3600))
    for _ in 0..<3 { worker.tendIfDue() }
    #expect(asked() == 5)
    part.stop()
  }

  /// A group that is not kept has told nobody of a refusal: whoever asks again is refused once.
  @Test func aRefusalIsCountedWhenItIsTold() throws {
    let part = try WorkerPart()
    try part.start()
    var refused = Put(name: "v1", refusal: RegistryRefusal(.tokenRejected, "why"))
    part.disk.plan(.error, at: 0, count: 1)
    #expect(
      part.serve([Put(name: "v2"), refused]).map(\.?.code) == ["store_unavailable", "store_unavailable"])
    #expect(part.serve(refused)?.code == "token_rejected")
    // A revocation is served again by the registry itself.
    refused.urgency = .revocation
    part.disk.plan(.error, at: 0, count: 1)
    _ = part.serve([Put(name: "v2"), refused])
    // And a minute that could not be written is counted on.
    part.clock.advance(.seconds(61))
    part.disk.plan(.error, at: 0, count: 1)
    let worker = try #require(part.worker)
    worker.tendIfDue()
    part.clock.advance(.seconds(31))
    worker.recoverIfDue()
    worker.tendIfDue()
    part.stop()
    let texts = try part.auditRows().map { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { "" }
    }
    let counted = texts.filter { $0.contains("strangers_refused") }
    #expect(counted.count == 1)
    #expect(counted.first?.contains(#""code":"token_rejected","count":1,"#) == true)
  }

  @Test func strangersAreCountedAMinuteAndTheKnownHaveARowEach() throws {
    let part = try WorkerPart()
    try part.start()
    let worker = try #require(part.worker)
    let device = DeviceID.test(3)
    func refused(_ code: RefusalCode, _ known: AuditEntry.Member? = nil) -> Put {
      Put(name: "v1", refusal: RegistryRefusal(code, "why"), knows: known)
    }
    for _ in 0..<40 {
      part.serve([
        refused(.tokenRejected), refused(.pairingRejected), refused(.notFound), refused(.badRequest),
      ])
    }
    part.serve([refused(.levelTooLow, .device(device)), refused(.rateLimited, .device(device))])
    part.clock.advance(.seconds(59))
    worker.tendIfDue()
    part.serve([refused(.tokenRejected)])
    part.clock.advance(.seconds(1))
    worker.tendIfDue()
    part.clock.advance(.seconds(120))
    worker.tendIfDue()
    part.stop()
    let texts = try part.auditRows().map { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { "" }
    }
    #expect(texts.count == 3)
    #expect(
      texts[0].contains(#""code":"level_too_low","device_id":"\#(device)","event":"refused","step":"why""#))
    #expect(texts[1].contains(#""code":"pairing_rejected","count":40,"event":"strangers_refused""#))
    #expect(texts[2].contains(#""code":"token_rejected","count":41,"event":"strangers_refused""#))
    // What was refused has not happened.
    #expect(try part.values().isEmpty)
  }

  /// Comes upon a login whose time is over, and is refused for it.
  private struct Late: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      transaction.know(.service(.test(4)))
      try transaction.recordOverdue(.codeEnded, [.subject(Subject("ada")!)])
      return .reply(.refused(RegistryRefusal(.codeRejected, "code_none")))
    }
  }

  @Test func whatTimeHasEndedIsNoRowAboutWhoIsRefused() throws {
    let part = try WorkerPart()
    try part.start()
    #expect(part.serve(Late())?.code == "code_rejected")
    part.stop()
    let texts = try part.auditRows().map { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { "" }
    }
    #expect(texts.count == 2 && texts[0].contains("code_ended") && !texts[0].contains("service_id"))
    #expect(texts[1].contains("refused") && texts[1].contains(#""service_id":"\#(ServiceID.test(4).text)""#))
  }

  /// Whoever is refused again and again has so many rows a minute, and one that counts the rest: a device, or a service, by
  /// itself. Rows are kept for good, and a refusal costs its sender nothing.
  @Test func theKnownHaveSoManyRowsAMinuteAndOneForTheRest() throws {
    let part = try WorkerPart()
    try part.start()
    let worker = try #require(part.worker)
    let parties = [AuditEntry.Member.device(.test(3)), .service(.test(4))]
    func refuse(_ count: Int, _ party: AuditEntry.Member) {
      for _ in 0..<count {
        part.serve([
          Put(name: "v1", refusal: RegistryRefusal(.levelTooLow, "why"), knows: party),
          Put(name: "v2", knows: party),
        ])
      }
    }
    let most = RefusalTally.rowsOfOne
    refuse(most, parties[1])
    refuse(most + 170, parties[0])
    // A disk that takes nothing loses no count.
    part.disk.plan(.error, at: 0, count: 100_000)
    part.clock.advance(.seconds(60))
    worker.tendIfDue()
    part.disk.countCalls()
    part.clock.advance(.seconds(60))
    worker.recoverIfDue()
    worker.tendIfDue()
    refuse(1, parties[0])
    refuse(most + 2, parties[1])
    part.stop()
    let texts = try part.auditRows().compactMap { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { nil }
    }
    func rows(_ event: String, _ party: String) -> [String] {
      texts.filter { $0.contains(#""event":"\#(event)""#) && $0.contains(party) }
    }
    let (device, service) = (
      #""device_id":"\#(DeviceID.test(3).text)""#, #""service_id":"\#(ServiceID.test(4).text)""#
    )
    #expect(rows("refused", device).count == most + 1 && rows("refused", service).count == 2 * most)
    let more = [rows("refused_more", device), rows("refused_more", service)]
    #expect(more[0].count == 1 && more[0][0].contains(#""count":170,"#))
    #expect(more[1].count == 1 && more[1][0].contains(#""count":2,"#))
    // What they may do is on record as before.
    #expect(rows("put", device).count == most + 171)
  }

  /// However many there are at once: nobody's memory grows with them.
  @Test func soManyAreCountedByThemselves() {
    var tally = RefusalTally()
    let now = UnixTime(milliseconds: 1000)
    for number in 0..<RefusalTally.parties + 10 {
      let device = DeviceID(random: KernelEntropy())
      let counted = tally.judge(.levelTooLow, to: .device(device), at: now)
      #expect(counted == (number < RefusalTally.parties ? nil : .stranger(.levelTooLow)))
    }
    #expect(tally.due == UnixTime(milliseconds: 61_000))
    #expect(tally.take().isEmpty && tally.due == nil)
  }

  @Test func headsAreSignedEachHourAndAtTheEnd() throws {
    let part = try WorkerPart()
    try part.start()
    let worker = try #require(part.worker)
    part.serve([Put(name: "v1"), Put(name: "v2")])
    part.clock.advance(.seconds(3599))
    worker.tendIfDue()
    #expect(part.listener.heads.isEmpty)
    part.clock.advance(.seconds(1))
    worker.tendIfDue()
    worker.tendIfDue()
    #expect(part.listener.heads.map(\.end.sequence) == [2])
    part.serve([Put(name: "v3")])
    part.stop()
    #expect(part.listener.heads.map(\.end.sequence) == [2, 3])
    let rows = try part.auditRows()
    #expect(part.listener.heads.last?.end.hash == rows.last?.hash)
  }
}
