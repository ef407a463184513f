/// Long polls through the registry's own thread: woken, late, taken back, drained; and what is left at the end.
import Addresses
import DeviceWire
import FaultDisk
import PortcullisProtocol
import Synchronization
import Time
import Testing

@testable import Registry

@Suite struct LongPollTests {
  private let disk: FaultDisk
  private let registry: Registry
  private let device = DeviceID.test(7)

  init() throws {
    disk = try FaultDisk(seed: 3)
    registry = try Registry(
      RegistryDatabase("devices.db", fileSystem: disk.name, reserve: TestReserve(disk)),
      settings: RegistrySettings(publicURL: "https://gate.example"), clock: SystemClock(),
      entropy: KernelEntropy(), listener: Listener())
    try registry.begin()
  }

  /// Waits until the value is there.
  private struct Poll: RegistryCall {
    let name: String
    let device: DeviceID

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      let value = try transaction.store.value(name)
      if let value { return .reply(.answered(value)) }
      guard transaction.wait != nil else { return .reply(.answered([])) }
      return .wait(.approvals(of: device), by: .device(device), otherwise: .answered([]))
    }
  }

  private func submit(_ call: any RegistryCall, wait: Duration? = nil) -> (Waiting, RequestHandle?) {
    let waiting = Waiting()
    return (waiting, registry.submit(call, lane: .host, origin: .gate, wait: wait) { waiting.say($0) })
  }

  @Test func wokenByWhatItWaitsFor() throws {
    let (poll, _) = submit(Poll(name: "v1", device: device), wait: .seconds(300))
    #expect(submit(Put(name: "v0")).0.reply().isAnswered)
    #expect(!poll.isAnswered)
    let put = submit(Put(name: "v1", value: [9], effects: [.wake(.approvals(of: device))])).0
    #expect(put.reply().isAnswered && poll.reply() == .answered([9]))
    registry.stop()
  }

  /// Woken for nothing, it waits on, and no longer than it was to.
  @Test func wokenForNothingItWaitsOn() throws {
    let begin = SystemClock().monotonic()
    let (poll, _) = submit(Poll(name: "v1", device: device), wait: .milliseconds(300))
    for number in 2..<6 {
      let put = Put(name: "v\(number)", effects: [.wake(.approvals(of: device))])
      #expect(submit(put).0.reply().isAnswered)
    }
    #expect(poll.reply() == .answered([]))
    #expect(SystemClock().monotonic() - begin >= .milliseconds(300))
    registry.stop()
  }

  @Test func beyondItsBoundItIsAnsweredAtOnce() throws {
    let polls = (0..<3).map { _ in submit(Poll(name: "v1", device: device), wait: .seconds(300)).0 }
    #expect(polls[2].reply() == .answered([]))
    #expect(!polls[0].isAnswered && !polls[1].isAnswered)
    registry.drain()
    #expect(polls[0].reply() == .answered([]) && polls[1].reply() == .answered([]))
    // From now on nobody waits.
    #expect(submit(Poll(name: "v1", device: device), wait: .seconds(300)).0.reply() == .answered([]))
    registry.stop()
  }

  @Test func takenBackItIsNotAnswered() throws {
    let (poll, handle) = submit(Poll(name: "v1", device: device), wait: .seconds(300))
    registry.cancel(try #require(handle))
    #expect(submit(Put(name: "v1", effects: [.wake(.approvals(of: device))])).0.reply().isAnswered)
    // It made room for another.
    let others = (0..<2).map { _ in submit(Poll(name: "v2", device: device), wait: .seconds(300)).0 }
    registry.drain()
    for other in others { #expect(other.reply() == .answered([])) }
    registry.stop()
    #expect(!poll.isAnswered)
  }

  /// Hundreds are woken at once: all are answered, in groups that let others in between.
  @Test func manyAreWokenInPieces() throws {
    let polls = try (0..<900).map { number in
      let call = ManyPolls(poll: Poll(name: "v1", device: device), process: Int32(number))
      let waiting = Waiting()
      let lane = Lane.address(IPAddress(v4: UInt32(number)))
      let handle = registry.submit(call, lane: lane, origin: .gate, wait: .seconds(300)) { waiting.say($0) }
      _ = try #require(handle)
      return waiting
    }
    #expect(
      submit(Put(name: "v1", value: [4], effects: [.wake(.approvals(of: device))])).0.reply().isAnswered)
    #expect(submit(Put(name: "v2")).0.reply().isAnswered)
    for poll in polls { #expect(poll.reply() == .answered([4])) }
    registry.stop()
  }

  private struct ManyPolls: RegistryCall {
    let poll: Poll
    let process: Int32

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      guard case .wait(let topic, _, let otherwise) = try poll.run(&transaction) else {
        return .reply(.answered([4]))
      }
      return .wait(topic, by: .process(process), otherwise: otherwise)
    }
  }

  @Test func whatIsQueuedIsServedBeforeTheEnd() throws {
    let puts = (0..<60).map { submit(Put(name: "v\($0)")).0 }
    registry.stop()
    #expect(puts.allSatisfy { $0.reply().isAnswered })
    #expect(submit(Put(name: "v99")).1 == nil)
    let store = try RegistryDatabase("devices.db", fileSystem: disk.name, reserve: TestReserve(disk))
    for number in 0..<60 { #expect(try store.value("v\(number)") != nil) }
    store.close()
  }
}
