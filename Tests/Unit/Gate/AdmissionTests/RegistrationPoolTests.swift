import Addresses
import Crypto
import Foundation
import Kit
import System
import Testing

@testable import Admission

/// docs/architecture-threads.md, "Threads": a bounded pool beside the loops at lower priority, at most 2 running and 8 waiting
/// per address.
@Suite struct RegistrationPoolTests {
  private struct State {
    var running = 0
    var mostRunning = 0
    var finished = 0
    var isOpen = false
  }

  /// Work that stays until the gate opens.
  private static func held(_ state: Monitor<State>) -> @Sendable () -> Void {
    {
      state.withLock { state, wake in
        state.running += 1
        state.mostRunning = max(state.mostRunning, state.running)
        wake.all()
      }
      state.wait { $0.isOpen ? .done(()) : .wait }
      state.withLock { state, _ in
        state.running -= 1
        state.finished += 1
      }
    }
  }

  private static func waitUntilRunning(_ count: Int, _ state: Monitor<State>) {
    state.wait { $0.running >= count ? .done(()) : .wait }
  }

  private static func open(_ state: Monitor<State>) {
    state.withLock { state, wake in
      state.isOpen = true
      wake.all()
    }
  }

  @Test func twoRunAndEightWaitPerAddress() throws {
    let pool = try RegistrationPool(threads: 4)
    let mine = Monitor(State())
    let others = Monitor(State())
    for _ in 0..<2 { #expect(pool.submit(from: address(1), Self.held(mine))) }
    Self.waitUntilRunning(2, mine)
    for _ in 0..<8 { #expect(pool.submit(from: address(1), Self.held(mine))) }
    #expect(!pool.submit(from: address(1), Self.held(mine)))
    // Others do not wait behind them.
    #expect(pool.submit(from: address(2), Self.held(others)))
    Self.waitUntilRunning(1, others)
    #expect(mine.withLock { state, _ in state.running } == 2)
    Self.open(mine)
    Self.open(others)
    pool.stop()
    #expect(mine.withLock { state, _ in state.finished } == 10)
    #expect(mine.withLock { state, _ in state.mostRunning } == 2)
    #expect(others.withLock { state, _ in state.finished } == 1)
  }

  @Test func stoppingFinishesTheQueueAndTakesNothingNew() throws {
    let pool = try RegistrationPool(threads: 1)
    let finished = Monitor([Int]())
    let gate = Monitor(State())
    #expect(pool.submit(from: address(0), Self.held(gate)))
    Self.waitUntilRunning(1, gate)
    for number in 1..<100 {
      #expect(pool.submit(from: address(number)) { finished.withLock { list, _ in list.append(number) } })
    }
    Self.open(gate)
    pool.stop()
    #expect(finished.withLock { list, _ in list } == Array(1..<100))
    #expect(!pool.submit(from: address(1)) {})
    pool.stop()
  }

  @Test func threadsShareNoLibraryContextWithTheLoops() throws {
    let pool = try RegistrationPool(threads: 2)
    let found = Monitor<[Bool]>([])
    for _ in 0..<2 {
      let isTaken = pool.submit(from: address(1)) {
        found.withLock { found, wake in
          found.append(LibraryContext.background.isOfThread)
          wake.all()
        }
      }
      #expect(isTaken)
    }
    #expect(found.wait { $0.count == 2 ? .done($0) : .wait } == [true, true])
    #expect(!LibraryContext.background.isOfThread)
    pool.stop()
  }

  @Test func threadsAreNice() throws {
    let pool = try RegistrationPool(threads: 2)
    let seen = Monitor([Task]())
    for number in 0..<8 {
      #expect(pool.submit(from: address(number)) { seen.withLock { list, _ in list.append(Task.current()) } })
    }
    pool.stop()
    let tasks = seen.withLock { list, _ in list }
    #expect(tasks.count == 8)
    for task in tasks {
      #expect(task.name.hasPrefix("register-"))
      #expect(task.niceness == 19)
    }
  }

  /// A thread as proc(5) shows it.
  private struct Task {
    let name: String
    let niceness: Int?

    static func current() -> Task {
      let text = (try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)) ?? ""
      guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")") else {
        return Task(name: "", niceness: nil)
      }
      // Field 3 is the first behind the name; niceness is field 19.
      let fields = text[text.index(after: close)...].split(separator: " ")
      return Task(name: String(text[text.index(after: open)..<close]), niceness: Int(fields[16]))
    }
  }
}
