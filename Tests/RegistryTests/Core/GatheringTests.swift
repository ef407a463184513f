/// When the registry waits for more before it begins a group.
import Addresses
import Testing

@testable import Registry

@Suite struct GatheringTests {
  private struct Nothing: RegistryCall {
    func run(_ desk: inout Desk) throws(CallFailure) -> Outcome { .reply(.answered([])) }
  }

  private func inbox(waiting count: Int) -> Registry.Inbox {
    var inbox = Registry.Inbox()
    for number in 0..<count {
      let request = Registry.Request(
        handle: RequestHandle(number: UInt64(number)), call: Nothing(), origin: .gate, wait: nil,
        completion: { _ in })
      let lane = Lane.address(IPAddress(v4: UInt32(number)))
      let isTaken = inbox.queue.append(request, lane: lane, urgency: .ordinary)
      #expect(isTaken)
    }
    return inbox
  }

  @Test func whoAsksAloneIsNotKeptWaiting() {
    #expect(!inbox(waiting: 0).mayGather(expectingMore: false))
    #expect(inbox(waiting: 1).mayGather(expectingMore: false))
  }

  @Test func aGroupThatIsFullBegins() {
    #expect(inbox(waiting: RegistryWorker.groupLimit - 1).mayGather(expectingMore: true))
    #expect(!inbox(waiting: RegistryWorker.groupLimit).mayGather(expectingMore: true))
  }

  @Test func whoEndsDoesNotWait() {
    var draining = inbox(waiting: 1)
    draining.isDraining = true
    #expect(!draining.mayGather(expectingMore: true))
    var stopping = inbox(waiting: 1)
    stopping.isStopping = true
    #expect(!stopping.mayGather(expectingMore: true))
  }

  @Test func whereMoreIsExpectedNobodyNeedWaitYet() {
    #expect(inbox(waiting: 0).mayGather(expectingMore: true))
    #expect(!Nothing().bringsEvidence)
  }
}
