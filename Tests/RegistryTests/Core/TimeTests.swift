/// The registry's time over restarts, and what is done when it comes.
import Bytes
import DeviceWire
import FaultDisk
import PortcullisProtocol
import Synchronization
import System
import Testing

@testable import Registry

@Suite struct TimeTests {
  /// Notes when it is asked, and says when it wants to be asked again.
  private final class Chores: Upkeep {
    let state = Mutex((asked: [UnixTime](), ended: 0, next: UnixTime?.none))

    func tend(_ desk: inout Desk) throws(CallFailure) -> UnixTime? {
      let now = desk.now
      return state.withLock { state in
        state.asked.append(now)
        return state.next
      }
    }

    func endAll(_ desk: inout Desk) throws(CallFailure) {
      try desk.storing { store throws(StoreFailure) in try store.setValue("v9", [1]) }
      desk.announce(.keySet([]))
      state.withLock { $0.ended += 1 }
    }
  }

  private struct Look: RegistryCall {
    let seen: Seen
    var reminder: Duration?
    final class Seen: Sendable { let time = Mutex(UnixTime(milliseconds: 0)) }

    func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
      let now = desk.now
      seen.time.withLock { $0 = now }
      if let reminder { desk.remind(at: now.adding(reminder)) }
      return .reply(.answered([]))
    }
  }

  private func time(_ room: WorkerRoom) -> UnixTime {
    let seen = Look.Seen()
    _ = room.serve(Look(seen: seen))
    return seen.time.withLock { $0 }
  }

  @Test func aStartAnHourBehindEndsWhatIsOpenAndPromisesNoTimeAgain() throws {
    let room = try WorkerRoom()
    let chores = Chores()
    room.upkeep = [chores]
    try room.start()
    room.clock.pass(.seconds(500))
    let before = time(room)
    room.kill()
    room.disk.restart()
    room.clock.setWall(by: .seconds(-3600))
    try room.start()
    #expect(chores.state.withLock { $0.ended } == 1)
    #expect(room.listener.events == [.clockBehind(by: .seconds(3600))])
    #expect(room.listener.effects.contains(.keySet([])))
    let after = time(room)
    #expect(after > before && after.milliseconds <= before.milliseconds + 2000)
    room.clock.pass(.seconds(10))
    #expect(time(room).milliseconds >= after.milliseconds + 10_000)
    room.stop()
    #expect(try room.values()["v9"] != nil)
    #expect(try room.auditRows().count == 1)
  }

  /// A lease of an hour, an hour without a request, and a clock that is set back by it.
  @Test(arguments: [true, false]) func quietHoursAreNotGivenBack(isStopped: Bool) throws {
    let room = try WorkerRoom()
    let chores = Chores()
    room.upkeep = [chores]
    try room.start()
    room.serve([Put(name: "v0")])
    room.clock.pass(.seconds(isStopped ? 3300 : 3600))
    if isStopped {
      room.stop()
    } else {
      room.worker?.tendIfDue()
      room.kill()
      room.disk.restart()
    }
    #expect(chores.state.withLock { $0.ended } == 0)
    room.clock.setWall(by: .seconds(-3300))
    try room.start()
    #expect(chores.state.withLock { $0.ended } == 1)
    #expect(room.listener.events.contains(.clockBehind(by: .seconds(3300))))
    room.stop()
  }

  /// What was not kept was not promised, but what comes next is.
  @Test func theTimeOfAGroupThatWasNotKeptIsStoredWithTheNext() throws {
    let room = try WorkerRoom()
    try room.start()
    room.serve([Put(name: "v0")])
    room.clock.pass(.seconds(5))
    room.disk.countCalls()
    room.serve([Put(name: "v0")])
    let calls = room.disk.calls
    try #require(calls > 1)
    room.clock.pass(.seconds(5))
    // The last call is the commit's sync.
    room.disk.plan(.error, at: calls - 1)
    #expect(room.serve(Put(name: "v1"))?.code == "store_unavailable")
    room.clock.pass(.milliseconds(10))
    let promised = time(room)
    #expect(room.serve(Put(name: "v2"))?.isAnswered == true)
    room.stop()
    #expect(try room.storedTime().promised >= promised)
  }

  /// Rows that upkeep writes are dated as well.
  @Test func theAuditsTimesNeverGoBack() throws {
    struct Recording: Upkeep {
      func tend(_ desk: inout Desk) throws(CallFailure) -> UnixTime? {
        try desk.record(.init("tended"))
        return nil
      }

      func endAll(_ desk: inout Desk) throws(CallFailure) {}
    }
    let room = try WorkerRoom()
    try room.start()
    room.serve([Put(name: "v0")])
    room.kill()
    room.upkeep = [Recording()]
    try room.start()
    room.clock.pass(.seconds(100))
    room.worker?.tendIfDue()
    for _ in 0..<2 {
      room.kill()
      room.clock.setWall(by: .seconds(-3600))
      try room.start()
    }
    room.serve([Put(name: "v1")])
    room.stop()
    let times = try room.auditRows().map(\.at.value)
    #expect(times.count == 5 && times == times.sorted(), "\(times)")
  }

  @Test func aMinuteBehindEndsNothing() throws {
    let room = try WorkerRoom()
    let chores = Chores()
    room.upkeep = [chores]
    try room.start()
    let before = time(room)
    room.stop()
    room.clock.setWall(by: .seconds(-59))
    try room.start()
    #expect(chores.state.withLock { $0.ended } == 0)
    #expect(time(room) > before)
    room.stop()
  }

  @Test func roomsAreAskedWhenTheyWantedAndWhenTheyAreReminded() throws {
    let room = try WorkerRoom()
    let chores = Chores()
    room.upkeep = [chores]
    try room.start()
    let worker = try #require(room.worker)
    func asked() -> Int { chores.state.withLock { $0.asked.count } }
    worker.tendIfDue()
    #expect(asked() == 1)
    worker.tendIfDue()
    room.clock.pass(.seconds(30))
    worker.tendIfDue()
    #expect(asked() == 1)
    _ = room.serve(Look(seen: .init(), reminder: .seconds(5)))
    _ = room.serve(Look(seen: .init(), reminder: .seconds(50)))
    room.clock.pass(.seconds(4))
    worker.tendIfDue()
    #expect(asked() == 1)
    room.clock.pass(.seconds(1))
    worker.tendIfDue()
    #expect(asked() == 2)
    // A piece only: it wants to be asked at once.
    chores.state.withLock { $0.next = $0.asked.last }
    room.clock.pass(.seconds(3600))
    for _ in 0..<3 { worker.tendIfDue() }
    #expect(asked() == 5)
    room.stop()
  }

  /// A group that is not kept has told nobody of a refusal: whoever asks again is refused once.
  @Test func aRefusalIsCountedWhenItIsTold() throws {
    let room = try WorkerRoom()
    try room.start()
    var refused = Put(name: "v1", refusal: RegistryRefusal(.tokenRejected, "why"))
    room.disk.plan(.error, at: 0, count: 1)
    #expect(
      room.serve([Put(name: "v2"), refused]).map(\.?.code) == ["store_unavailable", "store_unavailable"])
    #expect(room.serve(refused)?.code == "token_rejected")
    // A revocation is served again by the registry itself.
    refused.urgency = .revocation
    room.disk.plan(.error, at: 0, count: 1)
    _ = room.serve([Put(name: "v2"), refused])
    // And a minute that could not be written is counted on.
    room.clock.pass(.seconds(61))
    room.disk.plan(.error, at: 0, count: 1)
    let worker = try #require(room.worker)
    worker.tendIfDue()
    room.clock.pass(.seconds(31))
    worker.recoverIfDue()
    worker.tendIfDue()
    room.stop()
    let texts = try room.auditRows().map { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { "" }
    }
    let counted = texts.filter { $0.contains("strangers_refused") }
    #expect(counted.count == 1)
    #expect(counted.first?.contains(#""code":"token_rejected","count":1,"#) == true)
  }

  @Test func strangersAreCountedAMinuteAndTheKnownHaveARowEach() throws {
    let room = try WorkerRoom()
    try room.start()
    let worker = try #require(room.worker)
    let device = DeviceID.test(3)
    func refused(_ code: RefusalCode, _ known: AuditEntry.Member? = nil) -> Put {
      Put(name: "v1", refusal: RegistryRefusal(code, "why"), knows: known)
    }
    for _ in 0..<40 {
      room.serve([
        refused(.tokenRejected), refused(.pairingRejected), refused(.notFound), refused(.badRequest),
      ])
    }
    room.serve([refused(.levelTooLow, .device(device)), refused(.rateLimited, .device(device))])
    room.clock.pass(.seconds(59))
    worker.tendIfDue()
    room.serve([refused(.tokenRejected)])
    room.clock.pass(.seconds(1))
    worker.tendIfDue()
    room.clock.pass(.seconds(120))
    worker.tendIfDue()
    room.stop()
    let texts = try room.auditRows().map { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { "" }
    }
    #expect(texts.count == 3)
    #expect(
      texts[0].contains(#""code":"level_too_low","device_id":"\#(device)","event":"refused","step":"why""#))
    #expect(texts[1].contains(#""code":"pairing_rejected","count":40,"event":"strangers_refused""#))
    #expect(texts[2].contains(#""code":"token_rejected","count":41,"event":"strangers_refused""#))
    // What was refused has not happened.
    #expect(try room.values().isEmpty)
  }

  @Test func headsAreSignedEachHourAndAtTheEnd() throws {
    let room = try WorkerRoom()
    try room.start()
    let worker = try #require(room.worker)
    room.serve([Put(name: "v1"), Put(name: "v2")])
    room.clock.pass(.seconds(3599))
    worker.tendIfDue()
    #expect(room.listener.heads.isEmpty)
    room.clock.pass(.seconds(1))
    worker.tendIfDue()
    worker.tendIfDue()
    #expect(room.listener.heads.map(\.end.sequence) == [2])
    room.serve([Put(name: "v3")])
    room.stop()
    #expect(room.listener.heads.map(\.end.sequence) == [2, 3])
    let rows = try room.auditRows()
    #expect(room.listener.heads.last?.end.hash == rows.last?.hash)
  }
}
