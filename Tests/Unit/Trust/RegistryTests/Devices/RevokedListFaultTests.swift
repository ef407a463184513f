/// Certificates that are revoked while the disk takes nothing, or while all the queue is full: who has one is out at once, and
/// stays out until it is written.
import Addresses
import Bytes
import DeviceWire
import FaultDisk
import Kit
import Time
import Testing

@testable import Registry

@Suite struct RevokedListFaultTests {
  private static let list = RevokedSerials(
    digest: Bytes32(words: 1, 0, 0, 7), contains: { $0 == AndroidSerial([9]) }, all: { [AndroidSerial([9])] })
  private static let other = RevokedSerials(
    digest: Bytes32(words: 2, 0, 0, 7), contains: { $0 == AndroidSerial([8]) }, all: { [AndroidSerial([8])] })

  /// More than are written in one group, and one of another batch.
  private static let count: UInt8 = 70
  private static let revoked = (0..<count).map { DeviceID.test($0) }
  private static let spared = DeviceID.test(200)

  private struct Settle: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      for id in revoked + [spared] {
        let serial = AndroidSerial([id == spared ? 8 : 9])
        let keys: DeviceKeys
        do {
          keys = try TestPhone(platform: .android).keys
        } catch {
          throw .store(.constraint("\(error)"))
        }
        var device = DeviceRecord(
          id: id, state: .active, subject: nil, name: nil, platform: .android, keys: keys,
          level: .hardwareAttested, verification: .app, createdAt: transaction.now)
        device.activatedAt = transaction.now
        try transaction.store.insert(device)
        try transaction.store.insert([serial, AndroidSerial([7])], of: id)
      }
      return .reply(.answered([]))
    }
  }

  private func part(seed: UInt64 = 1) throws -> WorkerPart {
    let part = try WorkerPart(seed: seed)
    try part.start()
    #expect(part.serve(Settle())?.isAnswered == true)
    return part
  }

  /// Reads, and takes no more.
  private func fill(_ disk: FaultDisk) { disk.plan(.full, at: 0, count: 10_000_000) }

  /// What the door knows of it by now.
  private func last(_ part: WorkerPart, _ id: DeviceID) -> RegistryEffect? {
    part.listener.effects.last { effect in
      switch effect {
      case .deviceGone(let device), .deviceRevoked(let device): device == id
      case .deviceActive(let device): device.id == id
      default: false
      }
    }
  }

  private func isOut(_ part: WorkerPart, _ id: DeviceID) -> Bool {
    last(part, id).map { [.deviceGone(id), .deviceRevoked(id)].contains($0) } ?? false
  }

  private func isBare(_ part: WorkerPart, _ id: DeviceID) -> Bool {
    if case .deviceActive(let device) = last(part, id) { device.level == .bare } else { false }
  }

  private func levels(_ part: WorkerPart) throws -> [Level?] {
    let store = try #require(part.worker).store
    return try Self.revoked.map { try store.device($0)?.level }
  }

  @Test func whileTheDiskTakesNothing() throws {
    let part = try part()
    fill(part.disk)
    let answer = WorkerPart.Answer()
    part.submit(JudgeSerials(Self.list), answer)
    // Nothing is to be written yet.
    #expect(Self.revoked.allSatisfy { isOut(part, $0) } && last(part, Self.spared) == nil)
    part.goOn()
    #expect(answer.reply?.code == "store_unavailable" && Self.revoked.allSatisfy { isOut(part, $0) })
    let worker = try #require(part.worker)
    for _ in 0..<5 {
      part.clock.advance(.seconds(31))
      worker.recoverIfDue()
      // Told again and again, as whoever has the list does.
      #expect(part.serve(JudgeSerials(Self.list))?.code == "store_unavailable")
    }
    #expect(Self.revoked.allSatisfy { isOut(part, $0) } && worker.unwritten.count == 1)
    part.disk.countCalls()
    part.clock.advance(.seconds(31))
    worker.recoverIfDue()
    // Some of them are written by now, and those come back as what they are.
    #expect(Self.revoked.allSatisfy { isOut(part, $0) || isBare(part, $0) })
    #expect(part.listener.events.last == .available)
    part.goOn()
    #expect(Self.revoked.allSatisfy { isBare(part, $0) } && last(part, Self.spared) == nil)
    #expect(try levels(part).allSatisfy { $0 == .bare })
    // Nothing is left of it, and whoever orders it again hears so.
    #expect(!Self.revoked.contains { worker.revocations.end($0, of: nil) })
    #expect(part.serve(JudgeSerials(Self.list))?.isAnswered == true)
    part.stop()
  }

  /// Nobody waits for the next time that the disk is tried. Another list has to be looked up as well.
  @Test func whileTheStoreIsClosed() throws {
    let part = try part()
    part.disk.plan(.error, at: 0, count: 10_000_000)
    #expect(part.serve(Put(name: "v0"))?.code == "store_unavailable")
    fill(part.disk)
    #expect(part.serve(JudgeSerials(Self.list))?.code == "store_unavailable")
    #expect(Self.revoked.allSatisfy { isOut(part, $0) } && last(part, Self.spared) == nil)
    #expect(part.serve(JudgeSerials(Self.other))?.code == "store_unavailable")
    #expect(isOut(part, Self.spared))
    part.disk.countCalls()
    part.clock.advance(.seconds(31))
    part.worker?.recoverIfDue()
    part.goOn()
    #expect((Self.revoked + [Self.spared]).allSatisfy { isBare(part, $0) })
    part.stop()
  }

  /// Whatever fails where: nobody comes back by what was revoked, and in the end it is written.
  @Test(arguments: [FaultDisk.Fault.error, .full]) func atEveryCall(fault: FaultDisk.Fault) throws {
    let calm = try part()
    calm.disk.countCalls()
    _ = calm.serve(JudgeSerials(Self.list))
    calm.goOn()
    let calls = calm.disk.calls
    #expect(Self.revoked.allSatisfy { isBare(calm, $0) })
    calm.stop()
    try #require(calls > 10)
    for call in 0..<calls {
      let part = try part(seed: UInt64(call))
      part.disk.plan(fault, at: call, count: 3)
      _ = part.serve(JudgeSerials(Self.list))
      part.goOn()
      #expect(Self.revoked.allSatisfy { isOut(part, $0) || isBare(part, $0) }, "\(fault) at call \(call)")
      part.disk.countCalls()
      part.clock.advance(.seconds(31))
      part.worker?.recoverIfDue()
      part.goOn()
      #expect(Self.revoked.allSatisfy { isBare(part, $0) }, "\(fault) at call \(call)")
      #expect(try levels(part).allSatisfy { $0 == .bare }, "\(fault) at call \(call)")
      part.stop()
    }
  }

  /// The next start judges by the same list: nothing is lost with the process.
  @Test func nothingIsLostAtAStop() throws {
    let part = try part()
    fill(part.disk)
    _ = part.serve(JudgeSerials(Self.list))
    let worker = try #require(part.worker)
    worker.finish()
    #expect(worker.revocations.unwritten.isEmpty)
    part.kill()
    part.disk.countCalls()
    try part.start()
    _ = part.serve(JudgeSerials(Self.list))
    part.goOn()
    #expect(try levels(part).allSatisfy { $0 == .bare })
    part.stop()
  }

  // MARK: The queue

  /// Ahead of all that waits, and where no more of that may.
  @Test func aQueueThatIsFull() throws {
    let part = try part()
    part.stop()
    let listener = Listener()
    let registry = try Registry(
      RegistryDatabase("devices.db", fileSystem: part.disk.name, reserve: part.reserve),
      settings: RegistrySettings(publicURL: "https://gate.example"), clock: SystemClock(),
      entropy: KernelEntropy(), listener: listener)
    let mark = RegistryEffect.deviceGone(.test(250))
    var count = 0
    while registry.submit(
      Put(name: "v1", effects: [mark]), lane: .address(IPAddress(v6: UInt64(count / 64), 1)), origin: .gate,
      completion: { _ in }) != nil
    {
      count += 1
    }
    #expect(count == 1024)
    #expect(
      registry.submit(JudgeSerials(Self.list), lane: .host, origin: .gate, completion: { _ in }) != nil)
    try registry.begin()
    #expect(registry.stop() == [])
    let heard = listener.effects
    let first = try #require(heard.firstIndex(of: mark))
    #expect(Self.revoked.allSatisfy { heard[..<first].contains(.deviceGone($0)) })
  }
}
