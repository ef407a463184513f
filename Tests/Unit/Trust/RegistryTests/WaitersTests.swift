/// Long polls: woken by topic, ended by time, bounded for all and for each party.
import DeviceWire
import Time
import Testing

@testable import Registry

@Suite struct WaitersTests {
  private struct Nothing: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome { .reply(.answered([])) }
  }

  private func request(_ number: UInt64) -> Registry.Request {
    Registry.Request(
      handle: RequestHandle(number: number), call: Nothing(), origin: .gate, wait: .seconds(25),
      completion: { _ in })
  }

  private func identifier<Kind>(_ byte: UInt8) -> Identifier<Kind> {
    guard let identifier = Identifier<Kind>([UInt8](repeating: byte, count: 16)) else {
      fatalError("sixteen bytes are an identifier")
    }
    return identifier
  }

  private func time(_ seconds: UInt64) -> MonotonicTime {
    MonotonicTime(nanoseconds: seconds * 1_000_000_000)
  }

  private let empty = Reply.answered(Array("{}".utf8))

  @Test func aTopicWakesItsOwnInTheirOrder() {
    var waiters = Waiters()
    let (one, two) = (identifier(1) as DeviceID, identifier(2) as DeviceID)
    for number: UInt64 in [7, 3] {
      holds(
        waiters.add(
          request(number), on: .approvals(of: one), by: .device(one), until: time(25), otherwise: empty))
    }
    holds(
      waiters.add(request(5), on: .approvals(of: two), by: .device(two), until: time(25), otherwise: empty))
    holds(waiters.wake(.approvals(of: one)).map(\.handle.number) == [3, 7])
    holds(waiters.wake(.approvals(of: one)).isEmpty)
    #expect(waiters.count == 1)
  }

  @Test func aPartyHasItsBound() {
    var waiters = Waiters()
    let device = identifier(1) as DeviceID
    let service = identifier(2) as ServiceID
    for (party, bound) in [(Party.device(device), 2), (.service(service), 64)] {
      for number in 0..<UInt64(bound) {
        holds(
          waiters.add(
            request(number + 100 * UInt64(bound)), on: .pairing(identifier(9)), by: party,
            until: time(25), otherwise: empty))
      }
      holds(
        !waiters.add(
          request(99_999), on: .pairing(identifier(9)), by: party, until: time(25),
          otherwise: empty))
    }
    holds(waiters.cancel(RequestHandle(number: 200)))
    holds(!waiters.cancel(RequestHandle(number: 200)))
    holds(
      waiters.add(
        request(99_999), on: .approvals(of: device), by: .device(device), until: time(25), otherwise: empty))
  }

  @Test func allTogetherHaveABound() {
    var waiters = Waiters()
    for number in 0..<UInt64(Waiters.capacity) {
      holds(
        waiters.add(
          request(number), on: .pairing(identifier(9)), by: .process(Int32(number)),
          until: time(25), otherwise: empty))
    }
    holds(
      !waiters.add(
        request(99_999), on: .pairing(identifier(9)), by: .process(-1), until: time(25),
        otherwise: empty))
  }

  @Test func timeEndsThem() {
    var waiters = Waiters()
    #expect(waiters.nextDeadline == .never)
    for number: UInt64 in 1...3 {
      holds(
        waiters.add(
          request(number), on: .pairing(identifier(9)), by: .process(Int32(number)),
          until: time(number * 10), otherwise: empty))
    }
    #expect(waiters.nextDeadline == time(10))
    holds(waiters.expire(at: time(9)).isEmpty)
    holds(waiters.expire(at: time(20)).map(\.0.handle.number) == [1, 2])
    holds(waiters.end().map(\.0.handle.number) == [3])
    #expect(waiters.count == 0)
  }
}
