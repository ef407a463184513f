/// A pass counts from when it is on record: not before, and not where the disk has failed.
import Bytes
import DeviceWire
import FaultDisk
import Kit
import Time
import Testing

@testable import Registry

@Suite struct PresenceGroupTests {
  /// As `ProvePresence` does it for a device that has just become active.
  private struct Pass: RegistryCall {
    let device: DeviceRecord

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      try transaction.record(.presenceProved, .device(device.id))
      transaction.announce(
        .near(
          PresencePass(
            device: device.id, key: device.keys.device.hash, subject: device.subject, desktop: .test(1),
            at: transaction.now)))
      return .reply(.answered([]))
    }
  }

  private struct Insert: RegistryCall {
    let device: DeviceRecord

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      try transaction.store.insert(device)
      return .reply(.answered([]))
    }
  }

  private let near = Reply.answered([1])
  private let far = Reply.answered([0])

  private func device(_ part: WorkerPart) throws -> DeviceRecord {
    let device = DeviceRecord(
      id: .test(5), state: .active, subject: nil, name: nil, platform: .ios, keys: try TestPhone().keys,
      level: .bare, verification: .app, createdAt: UnixTime(milliseconds: 0))
    holds(part.serve(Insert(device: device))?.isAnswered == true)
    return device
  }

  @Test func aFailedGroupLeavesNone() throws {
    let part = try WorkerPart()
    try part.start()
    let device = try device(part)
    part.disk.plan(.error, at: 0, count: 4)
    #expect(part.serve(Pass(device: device))?.code == "store_unavailable")
    for _ in 0..<10 where part.worker?.outage != nil {
      part.clock.advance(.seconds(40))
      part.worker?.recoverIfDue()
    }
    #expect(part.serve(Look(device: device.id)) == far)
    #expect(part.serve(Pass(device: device))?.isAnswered == true)
    #expect(part.serve(Look(device: device.id)) == near)
  }

  /// In one group with it nobody is near yet; nor is anybody after a restart.
  @Test func fromTheNextGroupToTheEndOfTheProcess() throws {
    let part = try WorkerPart()
    try part.start()
    let device = try device(part)
    let look = Look(device: device.id)
    #expect(part.serve([Pass(device: device), look]).last == far)
    #expect(part.serve(look) == near)
    part.stop()
    try part.start()
    #expect(part.serve(look) == far)
  }

  @Test func noLongerWithEitherClock() throws {
    let part = try WorkerPart()
    try part.start()
    let device = try device(part)
    let look = Look(device: device.id)
    _ = part.serve(Pass(device: device))
    // Set back an hour: time goes on all the same.
    part.clock.setWall(by: .seconds(-3600))
    #expect(part.serve(look) == near)
    part.clock.advance(.seconds(61))
    #expect(part.serve(look) == far)
    _ = part.serve(Pass(device: device))
    part.clock.setWall(by: .seconds(7200))
    #expect(part.serve(look) == far)
  }
}
