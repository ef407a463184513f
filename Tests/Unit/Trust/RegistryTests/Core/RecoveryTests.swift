/// After failures: revocations hold at once and are written as soon as they can be, others wait for a store that was looked
/// over.
import Bytes
import DeviceWire
import FaultDisk
import JSON
import Kit
import System
import Testing
import Time

@testable import Registry

@Suite struct RecoveryTests {
  private let device = DeviceID.test(7)

  private func revocation(_ name: String = "v1") -> Put {
    Put(name: name, urgency: .revocation, immediate: [.deviceGone(device)], effects: [.deviceGone(device)])
  }

  /// From the first write on, for as many calls as are said.
  private func partThatFails(_ count: Int) throws -> WorkerPart {
    let part = try WorkerPart()
    try part.start()
    part.disk.plan(.error, at: 0, count: count)
    return part
  }

  @Test func oneFailureIsOverAtOnce() throws {
    let part = try partThatFails(1)
    #expect(part.serve(Put(name: "v0"))?.code == "store_unavailable")
    #expect(part.serve(Put(name: "v1"))?.isAnswered == true)
    guard case .unavailable = part.listener.events.first, part.listener.events.dropFirst() == [.available]
    else {
      Issue.record("\(part.listener.events)")
      return
    }
    part.stop()
    #expect(try part.values().keys.sorted() == ["v1"])
  }

  /// A disk that is full takes what the reserve left it, and fails at the next write: the file is looked over once in a
  /// while, and not for each request.
  @Test func failuresInARowAreOneTrouble() throws {
    let part = try partThatFails(1)
    #expect(part.serve(Put(name: "v0"))?.code == "store_unavailable")
    #expect(part.listener.events.last == .available)
    var looks = 0
    for _ in 0..<50 {
      part.disk.plan(.error, at: 0, count: 1)
      #expect(part.serve(Put(name: "v1"))?.code == "store_unavailable")
      part.disk.countCalls()
      part.clock.advance(.milliseconds(100))
      part.worker?.recoverIfDue()
      if part.listener.events.last == .available { looks += 1 }
    }
    // In five seconds, with pauses that double from half a second.
    #expect((1...8).contains(looks), "\(looks)")
    part.disk.countCalls()
    part.clock.advance(.seconds(31))
    part.worker?.recoverIfDue()
    #expect(part.serve(Put(name: "v2"))?.isAnswered == true)
    part.clock.advance(.seconds(31))
    // Long ago: tried again at once.
    part.disk.plan(.error, at: 0, count: 1)
    #expect(part.serve(Put(name: "v3"))?.code == "store_unavailable")
    #expect(part.serve(Put(name: "v3"))?.isAnswered == true)
    part.stop()
  }

  @Test func whileItLastsNothingIsPromised() throws {
    let part = try partThatFails(10_000)
    #expect(part.serve(Put(name: "v0"))?.code == "store_unavailable")
    let calls = part.disk.calls
    // Asked again at once, the disk is left alone.
    #expect(
      part.serve([Put(name: "v1"), Put(name: "v2")]).map(\.?.code) == [
        "store_unavailable", "store_unavailable",
      ])
    #expect(part.disk.calls == calls)
    part.disk.countCalls()
    part.worker?.recoverIfDue()
    #expect(part.serve(Put(name: "v1"))?.code == "store_unavailable")
    part.clock.advance(.seconds(1))
    part.worker?.recoverIfDue()
    #expect(part.serve(Put(name: "v1"))?.isAnswered == true)
    part.stop()
  }

  /// The thread sleeps until the next try, whatever else has become due.
  @Test func whileItLastsTheThreadSleeps() throws {
    let part = try partThatFails(100_000)
    _ = part.serve(Put(name: "v0"))
    for _ in 0..<8 {
      part.clock.advance(.seconds(4000))
      let worker = try #require(part.worker)
      worker.recoverIfDue()
      worker.tendIfDue()
      #expect(worker.nextMoment() > part.clock.monotonic())
    }
  }

  /// What failed while it was done, and what would have been behind it, is not left for an hour.
  @Test func whatWasDueIsLookedForAfterwards() throws {
    let part = try partThatFails(1)
    let worker = try #require(part.worker)
    // What a start finds in the log would meet the fault first.
    worker.erasure = nil
    worker.tendIfDue()
    #expect(worker.dueAt > worker.time.now())
    #expect(part.serve(Put(name: "v0"))?.code == "store_unavailable")
    #expect(worker.outage == nil && worker.dueAt <= worker.time.now())
    worker.tendIfDue()
    #expect(worker.dueAt > worker.time.now())
    part.stop()
  }

  @Test func aRevocationHoldsBeforeItIsWrittenAndIsWrittenLater() throws {
    let part = try partThatFails(10_000)
    let replies = part.serve([revocation(), Put(name: "v2")])
    #expect(replies.map(\.?.code) == ["store_unavailable", "store_unavailable"])
    #expect(part.listener.effects.contains(.deviceGone(device)))
    // One that comes meanwhile, too.
    let other = DeviceID.test(8)
    let second = Put(name: "v3", urgency: .revocation, immediate: [.deviceGone(other)])
    #expect(part.serve(second)?.code == "store_unavailable")
    #expect(part.listener.effects.contains(.deviceGone(other)))
    part.disk.countCalls()
    part.clock.advance(.seconds(1))
    part.worker?.recoverIfDue()
    part.stop()
    #expect(try part.values().keys.sorted() == ["v1", "v3"])
  }

  /// All that belongs to it, as far as the door knows: the store is not asked for it.
  @Test(arguments: [
    (#"{"id":"07070707-0707-0707-0707-070707070707"}"#, "devices-revoke"),
    (#"{"id":"07070707-0707-0707-0707-070707070707"}"#, "devices-end"),
    (#"{"subject":"anna"}"#, "devices-end"),
  ])
  func whatIsOrderedIsHeardAtOnce(arguments: String, verb: String) throws {
    let object = try #require(
      try JSONValue(parsing: Array(arguments.utf8).span, depthLimit: 2).object)
    let order = try OperatorOrder.call(verb, object)
    let anna = try #require(Subject("anna"))
    let expected: RegistryEffect = arguments.contains("anna") ? .subjectRevoked(anna) : .deviceRevoked(device)
    let part = try partThatFails(10_000)
    #expect(part.serve(order)?.code == "store_unavailable")
    #expect(part.listener.effects.last == expected)
    // What was true before does not bring it back, until the order is on the disk.
    let active = ActiveDevice(
      id: device, key: try TestPhone().keys.device.point, level: .bare, attestedKey: nil, subject: anna)
    let former = RegistryEffect.formerKey(appKey(1), of: device, subject: anna)
    for effect in [RegistryEffect.deviceActive(active), .deviceWaits(active), former] {
      try #require(part.worker).hear(effect)
      #expect(part.listener.effects.suffix(2) == [effect, .deviceRevoked(device)])
    }
  }

  /// Whose polls they are is not known without the store.
  @Test func whoWaitsAsksAgainWhenARevocationCannotBeWritten() throws {
    struct Poll: RegistryCall {
      let topic: Topic
      func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
        .wait(topic, by: .device(.test(1)), otherwise: .answered([]))
      }
    }
    let part = try WorkerPart()
    try part.start()
    let poll = WorkerPart.Answer()
    part.submit(Poll(topic: .approvals(of: device)), poll, wait: .seconds(25))
    part.disk.plan(.error, at: 0, count: 10_000)
    #expect(part.serve(Put(name: "v0"))?.code == "store_unavailable")
    #expect(poll.reply == nil)
    #expect(part.serve(revocation())?.code == "store_unavailable")
    #expect(poll.reply?.code == "store_unavailable")
    part.stop()
  }

  /// What only the run of a revocation finds out, as well: the key behind the device, the devices of a subject.
  @Test func whatARevocationBringsAboutIsHeardOnceItIsWritten() throws {
    let key = RegistryEffect.attestedKeyRevoked(KeyIdentifier(Bytes32(words: 1, 2, 3, 4)))
    let others = [8, 9].map { RegistryEffect.deviceGone(.test($0)) }
    let part = try partThatFails(10_000)
    _ = part.serve(Put(name: "v0"))
    var first = revocation()
    first.effects.append(key)
    _ = part.serve(first)
    _ = part.serve(Put(name: "v2", urgency: .revocation, effects: others))
    #expect(!part.listener.effects.contains(key))
    part.disk.countCalls()
    part.clock.advance(.seconds(1))
    part.worker?.recoverIfDue()
    #expect(part.listener.events.last == .available)
    for effect in [.deviceGone(device), key] + others { #expect(part.listener.effects.contains(effect)) }
    part.stop()
    #expect(try part.values().keys.sorted() == ["v1", "v2"])
  }

  /// Its first piece could not be written when it was ordered, and nobody waits for the others.
  @Test func aRevocationInPiecesGoesOn() throws {
    struct Pieces: RegistryCall {
      var urgency: Urgency { .revocation }
      var number = 1

      func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
        let number = number
        try transaction.store.setValue("v\(number)", [1])
        return number < 3 ? .goOn(Pieces(number: number + 1)) : .reply(.answered([]))
      }
    }
    let part = try partThatFails(10_000)
    #expect(part.serve(Pieces())?.code == "store_unavailable")
    part.disk.countCalls()
    part.clock.advance(.seconds(1))
    part.worker?.recoverIfDue()
    part.goOn()
    part.stop()
    #expect(try part.values().keys.sorted() == ["v1", "v2", "v3"])
  }

  // MARK: The end of a process that could not write

  /// The disk is well again when the gate is stopped, though it was not yet time to try it.
  @Test func whatHoldsInMemoryIsTriedAtTheStop() throws {
    let part = try partThatFails(10_000)
    var order = revocation()
    order.revokes = "device 7"
    #expect(part.serve(order)?.code == "store_unavailable")
    let worker = try #require(part.worker)
    #expect(worker.revocations.unwritten == ["device 7"])
    part.disk.countCalls()
    worker.finish()
    #expect(worker.revocations.unwritten == [])
    part.stop()
    #expect(try part.values().keys.sorted() == ["v1"])
  }

  /// Who stops the gate then learns which they are: with the process they are gone.
  @Test func whatCannotBeWrittenAtTheStopIsSaidByName() throws {
    let part = try partThatFails(1_000_000)
    for (name, revokes) in [("v1", "device 7"), ("v2", "service mud"), ("v3", "device 7")] {
      var order = revocation(name)
      order.revokes = revokes
      #expect(part.serve(order)?.code == "store_unavailable")
    }
    // Ordered twice, it is kept once.
    #expect(try unwritten(part) == 2)
    let worker = try #require(part.worker)
    worker.finish()
    #expect(worker.revocations.unwritten == ["device 7", "service mud"])
  }

  @Test func aGateThatStopsHearsWhatIsLost() throws {
    let disk = try FaultDisk(seed: 1)
    let listener = Listener()
    let registry = try Registry(
      RegistryDatabase("devices.db", fileSystem: disk.name, reserve: TestReserve(disk)),
      settings: RegistrySettings(publicURL: "https://gate.example"), clock: SystemClock(),
      entropy: KernelEntropy(), listener: listener)
    disk.plan(.error, at: 0, count: 1_000_000)
    var order = revocation()
    order.revokes = "device 7"
    let isQueued = registry.submit(order, lane: .host, origin: .gate, completion: { _ in }) != nil
    // Before the registry's thread has looked at it, as the disk may have it.
    #expect(isQueued && listener.effects.last == .deviceGone(device))
    try registry.begin()
    #expect(registry.stop() == ["device 7"])
    #expect(listener.events.last == .revocationsLost(["device 7"]))
  }

  /// The disk has not answered what is asked of it, and with it the registry's thread hangs.
  @Test func aStopDoesNotWaitForADiskThatHangs() throws {
    struct Hanging: RegistryCall {
      let signal: Signal

      func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
        signal.wait()
        return .reply(.answered([]))
      }
    }
    let disk = try FaultDisk(seed: 1)
    let (listener, signal) = (Listener(), Signal())
    let reserve = TestReserve(disk)
    let registry = try Registry(
      RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve),
      settings: RegistrySettings(publicURL: "https://gate.example"), clock: SystemClock(),
      entropy: KernelEntropy(), listener: listener)
    _ = registry.submit(Hanging(signal: signal), lane: .host, origin: .gate, completion: { _ in })
    try registry.begin()
    var order = revocation()
    order.revokes = "device 7"
    order.effects = []
    _ = registry.submit(order, lane: .host, origin: .gate, completion: { _ in })
    #expect(listener.effects.contains(.deviceGone(device)))
    #expect(registry.stop(within: .milliseconds(1)) == ["device 7"])
    // Answered after all, it is written.
    signal.ring()
    #expect(registry.stop(within: .seconds(600)) == [])
    let store = try RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve)
    defer { store.close() }
    #expect(try store.value("v1") != nil)
  }

  // MARK: What was ordered holds

  /// A call from before it, which the disk keeps waiting, says that the device is well.
  @Test func nothingThatWasTrueBeforeTakesARevocationBack() throws {
    let part = try WorkerPart()
    try part.start()
    let worker = try #require(part.worker)
    let active = ActiveDevice(
      id: device, key: try TestPhone().keys.device.point, level: .bare, attestedKey: nil)
    let handle = RequestHandle(number: 1_000_000)
    worker.revocations.add(handle, revocation())
    _ = part.serve(Put(name: "v0", effects: [.deviceActive(active)]))
    #expect(part.listener.effects.suffix(2) == [.deviceActive(active), .deviceRevoked(device)])
    // Ordered twice, it holds until both are settled.
    let again = RequestHandle(number: 1_000_001)
    for _ in 0..<2 { worker.revocations.add(again, revocation()) }
    worker.revocations.settle(handle)
    #expect(worker.revocations.end(device, of: nil) && !worker.revocations.end(.test(9), of: nil))
    worker.revocations.settle(again)
    _ = part.serve(Put(name: "v0", effects: [.deviceActive(active)]))
    #expect(part.listener.effects.last == .deviceActive(active))
    part.stop()
  }

  /// The operator's command has given up after its time; what he ordered is done all the same.
  @Test func whoeverOrderedARevocationNeedNotWait() throws {
    let disk = try FaultDisk(seed: 1)
    let reserve = TestReserve(disk)
    let registry = try Registry(
      RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve),
      settings: RegistrySettings(publicURL: "https://gate.example"), clock: SystemClock(),
      entropy: KernelEntropy(), listener: Listener())
    let calls: [any RegistryCall] = [revocation(), Put(name: "v2")]
    for call in calls {
      let handle = registry.submit(call, lane: .host, origin: .gate, completion: { _ in })
      registry.cancel(try #require(handle))
    }
    try registry.begin()
    #expect(registry.stop() == [])
    let store = try RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve)
    defer { store.close() }
    #expect(try store.value("v1") != nil)
    #expect(try store.value("v2") == nil)
  }

  // MARK: A disk that is full

  @Test func onAFullDiskRevocationsHaveWhatIsKeptForThem() throws {
    let part = try WorkerPart()
    try part.start()
    part.reserve.setFull(true)
    let big = [UInt8](repeating: 1, count: 60_000)
    #expect(part.serve(Put(name: "v0", value: big))?.code == "store_unavailable")
    // Whoever orders it hears that it could not be written; it was, a moment later.
    var order = revocation()
    order.value = big
    _ = part.serve(order)
    #expect(part.listener.effects.contains(.deviceGone(device)))
    #expect(try unwritten(part) == 0)
    // The next is written at once, and others have to wait until the room is kept again.
    var next = revocation("v2")
    next.value = [2]
    #expect(part.serve(next)?.isAnswered == true)
    #expect(part.serve(Put(name: "v3"))?.code == "store_unavailable")
    part.reserve.setFull(false)
    part.clock.advance(.seconds(40))
    part.worker?.recoverIfDue()
    #expect(part.serve(Put(name: "v4"))?.isAnswered == true)
    part.stop()
    #expect(try part.values().keys.sorted() == ["v1", "v2", "v4"])
  }

  private func unwritten(_ part: WorkerPart) throws -> Int { try #require(part.worker).unwritten.count }

  @Test func effectsWaitForTheDiskAndRevocationsDoNot() throws {
    let part = try WorkerPart()
    try part.start()
    let open = RegistryEffect.approvalsOpen(device, attestedBy: nil, count: 1)
    // The last call of the group's commit is its sync.
    part.disk.countCalls()
    _ = part.serve(Put(name: "v0"))
    let calls = part.disk.calls
    try #require(calls > 1)
    part.disk.plan(.error, at: calls - 1)
    let replies = part.serve([
      Put(name: "v0", effects: [open]), Put(name: "v1", effects: [.deviceGone(device)]),
    ])
    #expect(replies.map(\.?.code) == ["store_unavailable", "store_unavailable"])
    #expect(part.listener.effects.last == .deviceGone(device) && !part.listener.effects.contains(open))
    part.stop()
  }

  @Test func aRuleOfTheTablesIsOneCallsAffair() throws {
    struct Broken: RegistryCall {
      func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
        try transaction.store.setValue("v9", [1])
        try transaction.store.appendToAudit(
          AuditRow(
            sequence: 1, at: UnixSeconds(transaction.now), content: .text([1], salt: [1]), hash: .init()),
          about: [])
        return .reply(.answered([]))
      }
    }
    let part = try WorkerPart()
    try part.start()
    let replies = part.serve([Put(name: "v0"), Broken(), Put(name: "v1")])
    #expect(replies.map(\.?.code) == [nil, "internal_error", nil])
    part.stop()
    #expect(try part.values().keys.sorted() == ["v0", "v1"])
  }
}
