/// What the parts count in memory: by whom, for how long, and for how many.
import Addresses
import DeviceWire
import Time
import Testing

@testable import Registry

@Suite struct MemoryTests {
  private let noon = UnixTime(milliseconds: 1_771_286_400_000)

  private func at(_ seconds: Int64) -> UnixTime { UnixTime(milliseconds: noon.milliseconds + seconds * 1000) }

  /// An address of one network of IPv6 after the other.
  private func host(_ number: UInt64, of network: UInt64 = 7) -> Origin {
    .address(IPAddress(v6: network, number))
  }

  /// Whoever has a network of IPv6 has more addresses than anybody can count.
  @Test func aNetworkIsOneAddress() {
    let memory = DeviceMemory()
    let device = DeviceID(random: KernelEntropy())
    for number in 0..<20 {
      #expect(memory.waitToEnrol(host(UInt64(number)), now: noon) == nil)
      memory.noteEnrolment(host(UInt64(number)), now: noon)
    }
    #expect(memory.waitToEnrol(host(99), now: noon) == .seconds(3600))
    #expect(memory.waitToEnrol(host(99, of: 8), now: noon) == nil)
    for number in 0..<3 { memory.noteFailure(device, from: host(UInt64(number)), now: noon) }
    #expect(memory.waitToAttest(device, from: host(99), now: noon) == .seconds(900))
    #expect(memory.waitToAttest(device, from: host(99, of: 8), now: noon) == nil)

    for number in 0..<10 { #expect(memory.pairings.waitToAnswer(host(UInt64(number)), now: noon) == nil) }
    #expect(memory.pairings.waitToAnswer(host(99), now: noon) == .seconds(60))
    #expect(memory.pairings.waitToAnswer(host(99, of: 8), now: noon) == nil)
  }

  /// Ten answers to QR codes in any minute: not ten on either side of a full one. What is refused does not count.
  @Test func aMinuteSlides() {
    let memory = PairingMemory()
    for second in 50..<60 { #expect(memory.waitToAnswer(host(1), now: at(Int64(second))) == nil) }
    #expect(memory.waitToAnswer(host(1), now: at(60)) == .seconds(50))
    #expect(memory.waitToAnswer(host(1), now: at(109)) == .seconds(1))
    #expect(memory.waitToAnswer(host(1), now: at(110)) == nil)
    #expect(memory.waitToAnswer(host(1), now: at(110)) == .seconds(1))
    #expect(memory.waitToAnswer(host(1, of: 8), now: at(110)) == nil)
  }

  @Test func anHourSlides() {
    var tally = Tally<Int>(limit: 3)
    for second in [0, 1200, 2400] as [Int64] {
      holds(!tally.isFull(1, now: at(second)))
      tally.note(1, now: at(second))
    }
    #expect(tally.isFull(1, now: at(3599)) && tally.timeLeft(1, now: at(3599)) == .seconds(1))
    #expect(!tally.isFull(1, now: at(3600)) && !tally.isFull(2, now: at(0)))
    tally.note(1, now: at(3600))
    #expect(tally.isFull(1, now: at(3601)) && tally.timeLeft(1, now: at(3601)) == .seconds(1199))
    #expect(tally.last(1) == at(3600) && tally.last(2) == nil)
  }

  /// However many come, those who came last are remembered.
  @Test func capacity() {
    var tally = Tally<Int>(limit: 1)
    for number in 0..<200_000 {
      tally.note(number, now: UnixTime(milliseconds: noon.milliseconds + Int64(number)))
    }
    #expect(tally.count <= 65_536)
    #expect(tally.isFull(199_999, now: at(200)) && !tally.isFull(0, now: at(200)))
  }

  /// Attack: so many that one of them is over each time one comes. Looking at all of them is not for one place.
  @Test func roomIsMadeForManyAtOnce() {
    var tally = Tally<Int>(limit: 1)
    for number in 0..<65_536 { tally.note(number, now: at(number == 0 ? 0 : 1800)) }
    tally.note(65_536, now: at(3601))
    #expect(tally.count <= 49_153 && tally.isFull(65_536, now: at(3601)))
  }

  /// Those of the last two minutes, and others only for as long as they are few.
  @Test func endedKeysAreForgotten() {
    var keys = EndedKeys()
    for number in 0..<20_000 { keys.note(appKey(UInt64(number)), now: at(0)) }
    #expect(keys.contains(appKey(0), now: at(119)) && !keys.contains(appKey(0), now: at(120)))
    for number in 0..<60_000 { keys.note(appKey(UInt64(number)), now: at(Int64(200 + number))) }
    #expect(keys.count <= 40_000)
    #expect(keys.contains(appKey(59_999), now: at(60_199)) && !keys.contains(appKey(1), now: at(60_199)))
  }

  /// Requests that are taken back while the queue is never empty.
  @Test func whatWasTakenBackIsBounded() {
    var handles = TakenBack()
    for number in 0..<100_000 { handles.add(RequestHandle(number: UInt64(number))) }
    #expect(handles.count <= TakenBack.capacity)
    #expect(handles.take(RequestHandle(number: 99_999)) && !handles.take(RequestHandle(number: 99_999)))
    handles.clear()
    #expect(handles.count == 0)
  }
}
