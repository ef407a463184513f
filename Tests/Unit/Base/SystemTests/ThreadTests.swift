import Foundation
import Glibc
import Testing
import Time

@testable import System

@Suite struct ThreadTests {
  @Test func runsItsBodyOnceUnderItsName() throws {
    let seen = Monitor<[String]>([])
    let thread = try System.Thread(name: "fifteen-letters") {
      seen.withLock { list, _ in list.append(Self.ownName()) }
    }
    thread.join()
    #expect(seen.withLock { list, _ in list } == ["fifteen-letters"])
  }

  @Test func nicenessIsTheThreadsAlone() throws {
    let own = Self.ownNiceness()
    let seen = Monitor<[Int]>([])
    let nice = try System.Thread(name: "nice", niceness: 7) {
      seen.withLock { list, _ in list.append(Self.ownNiceness()) }
    }
    nice.join()
    let plain = try System.Thread(name: "plain") {
      seen.withLock { list, _ in list.append(Self.ownNiceness()) }
    }
    plain.join()
    #expect(seen.withLock { list, _ in list } == [7, own])
    #expect(Self.ownNiceness() == own)
  }

  @Test func whoeverIsBehindTheLoopsIsABatchThread() throws {
    let seen = Monitor<[Int32]>([])
    for niceness in [System.Thread.behindLoops, 10] {
      let thread = try System.Thread(name: "behind", niceness: niceness) {
        // Of 0: the calling thread's.
        seen.withLock { list, _ in list.append(sched_getscheduler(0)) }
      }
      thread.join()
    }
    // SCHED_BATCH, of which Glibc's module knows nothing.
    #expect(seen.withLock { list, _ in list } == [3, SCHED_OTHER])
  }

  @Test func aThreadKnowsWhatItWasGiven() throws {
    let seen = Monitor<[Int32]>([])
    for niceness: Int32 in [0, 7] {
      let thread = try System.Thread(name: "knowing", niceness: niceness) {
        seen.withLock { list, _ in list.append(System.Thread.niceness) }
      }
      thread.join()
    }
    #expect(seen.withLock { list, _ in list } == [0, 7])
    #expect(System.Thread.niceness == 0)
  }

  @Test func manyAreJoinedFromACollection() throws {
    let shared = Monitor(0)
    var handles: [JoinHandle] = []
    for index in 0..<20 {
      handles.append(
        JoinHandle(try System.Thread(name: "t\(index)") { shared.withLock { count, _ in count += 1 } }))
    }
    for handle in handles { handle.join() }
    #expect(shared.withLock { count, _ in count } == 20)
  }

  private static func ownName() -> String {
    let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return text.map { String($0.dropLast()) } ?? ""
  }

  /// `PRIO_PROCESS` of 0 is the calling thread on Linux.
  private static func ownNiceness() -> Int { Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)) }
}

@Suite struct MonitorTests {
  @Test func manyThreadsCountWithoutLosing() throws {
    let monitor = Monitor(0)
    var handles: [JoinHandle] = []
    for _ in 0..<4 {
      handles.append(
        JoinHandle(
          try System.Thread(name: "count") {
            for _ in 0..<5000 { monitor.withLock { state, _ in state += 1 } }
          }))
    }
    for handle in handles { handle.join() }
    #expect(monitor.withLock { state, _ in state } == 20_000)
  }

  @Test func aWaiterSeesWhatAnotherThreadDoes() throws {
    let monitor = Monitor([Int]())
    let thread = try System.Thread(name: "feed") {
      for number in 0..<1000 {
        monitor.withLock { state, wake in
          state.append(number)
          wake.one()
        }
      }
    }
    var taken: [Int] = []
    while taken.count < 1000 {
      taken += monitor.wait { state in
        if state.isEmpty { return .wait }
        defer { state = [] }
        return .done(state)
      }
    }
    thread.join()
    #expect(taken == Array(0..<1000))
  }

  @Test func allWaitersAreWoken() throws {
    let monitor = Monitor(false)
    var handles: [JoinHandle] = []
    for _ in 0..<5 {
      handles.append(
        JoinHandle(try System.Thread(name: "wait") { monitor.wait { $0 ? .done(()) : .wait } }))
    }
    monitor.withLock { state, wake in
      state = true
      wake.all()
    }
    for handle in handles { handle.join() }
    #expect(monitor.withLock { state, _ in state })
  }

  @Test func aDeadlineEndsTheWait() {
    let monitor = Monitor(0)
    let deadline = SystemClock().monotonic() + .milliseconds(20)
    var looks = 0
    let result: Int? = monitor.wait(until: deadline) { _ in
      looks += 1
      return .wait
    }
    #expect(result == nil && looks >= 2)
    #expect(SystemClock().monotonic() >= deadline)
    // The last look counts, however late it is.
    #expect(monitor.wait(until: deadline) { .done($0) } == 0)
  }

  @Test func aWaiterWithADeadlineSeesWhatAnotherThreadDoes() throws {
    let monitor = Monitor(false)
    let thread = try System.Thread(name: "feed") {
      monitor.withLock { state, wake in
        state = true
        wake.all()
      }
    }
    let deadline = SystemClock().monotonic() + .seconds(30)
    #expect(monitor.wait(until: deadline) { $0 ? .done(true) : .wait } == true)
    thread.join()
  }
}

@Suite struct SignalTests {
  @Test func aRingBeforeTheWaitIsNotLost() {
    let signal = Signal()
    signal.ring()
    signal.ring()
    #expect(signal.wait(until: SystemClock().monotonic()))
    // Two rings were one.
    #expect(!signal.wait(until: SystemClock().monotonic()))
  }

  @Test func aDeadlineEndsTheWait() {
    let signal = Signal()
    let start = SystemClock().monotonic()
    let deadline = start + .milliseconds(20)
    #expect(!signal.wait(until: deadline))
    #expect(SystemClock().monotonic() >= deadline)
  }

  @Test func aRingFromAnotherThreadWakes() throws {
    let signal = Signal()
    let thread = try System.Thread(name: "ring") { signal.ring() }
    #expect(signal.wait())
    thread.join()
  }
}
