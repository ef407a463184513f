/// Every order and every end in every phase; time is what the test says.
import System
import Testing
import Time

@testable import Supervision

@Suite struct SupervisionStateTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private func at(_ duration: Duration) -> MonotonicTime { Self.start + duration }

  fileprivate enum Phase {
    case running, restarting, waiting, ending
  }

  private func state(in phase: Phase) -> SupervisionState {
    var state = SupervisionState(now: Self.start)
    state.started(now: Self.start)
    switch phase {
    case .running: break
    case .restarting: _ = state.ordered(.restart, now: Self.start)
    case .waiting: _ = state.ended(.killed(signal: 9), now: Self.start)
    case .ending: _ = state.ordered(.terminate, now: Self.start)
    }
    return state
  }

  private static let orders: [(Phase, SupervisionOrder, SupervisionAction)] = [
    (.running, .terminate, .signal(.terminate)), (.running, .interrupt, .signal(.interrupt)),
    (.running, .reload, .signal(.hangup)), (.running, .restart, .signal(.terminate)),
    (.restarting, .terminate, .none), (.restarting, .interrupt, .none), (.restarting, .reload, .none),
    (.restarting, .restart, .none),
    (.waiting, .terminate, .end(0)), (.waiting, .interrupt, .end(0)), (.waiting, .reload, .none),
    (.waiting, .restart, .start),
    (.ending, .terminate, .signal(.terminate)), (.ending, .interrupt, .signal(.interrupt)),
    (.ending, .reload, .none), (.ending, .restart, .none),
  ]

  @Test(arguments: orders)
  fileprivate func anOrderInEachPhase(phase: Phase, order: SupervisionOrder, action: SupervisionAction) {
    var state = state(in: phase)
    let taken = state.ordered(order, now: Self.start)
    #expect(taken == action)
  }

  private static let endings: [(Phase, ProcessEnding, SupervisionAction)] =
    [0, 64, 65, 78].map { (.running, .exited($0), .end($0)) }
    + [1, 69, 70, 71, 73, 74, 75, 77, 127].map { (.running, .exited($0), .none) } + [
      (.running, .killed(signal: 9), .none), (.running, .killed(signal: 15), .none),
      (.restarting, .exited(0), .start), (.restarting, .exited(78), .start),
      (.restarting, .killed(signal: 11), .start),
      (.ending, .exited(0), .end(0)), (.ending, .exited(74), .end(74)),
      (.ending, .killed(signal: 9), .end(70)),
      (.waiting, .exited(0), .none),
    ]

  @Test(arguments: endings)
  fileprivate func anEndInEachPhase(phase: Phase, ending: ProcessEnding, action: SupervisionAction) {
    var state = state(in: phase)
    let taken = state.ended(ending, now: Self.start)
    #expect(taken == action)
  }

  @Test func theFirstStartIsDueAtOnce() {
    var state = SupervisionState(now: Self.start)
    let taken = state.timePassed(now: Self.start)
    #expect(taken == .start)
  }

  /// 0.1 s doubling to 5 s, and from the beginning after 30 s.
  @Test func waitsGrowAndAreForgotten() {
    var state = SupervisionState(now: Self.start)
    var now = Self.start
    var waits: [Duration] = []
    func die(after life: Duration) {
      state.started(now: now)
      now = now + life
      _ = state.ended(.exited(70), now: now)
      let until = state.deadline ?? now
      waits.append(until - now)
      let early = state.timePassed(now: MonotonicTime(nanoseconds: until.nanoseconds - 1))
      let due = state.timePassed(now: until)
      #expect(early == .none)
      #expect(due == .start)
      now = until
    }
    for _ in 0..<8 { die(after: .milliseconds(1)) }
    die(after: .milliseconds(29_999))
    die(after: .seconds(30))
    die(after: .zero)
    #expect(
      waits == [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 100, 200].map { .milliseconds($0) })
  }

  @Test func aGateThatDoesNotEndForItsRestartIsKilledOnce() {
    var state = state(in: .restarting)
    let limit = SupervisionState.restartTime
    let early = state.timePassed(now: at(limit - .nanoseconds(1)))
    let late = state.timePassed(now: at(limit))
    let again = state.timePassed(now: at(limit * 2))
    #expect(early == .none && late == .signal(.kill) && again == .none)
    #expect(state.deadline == nil)
    let ended = state.ended(.killed(signal: 9), now: at(limit))
    #expect(ended == .start)
  }

  /// How long an end may take is for whoever ordered it.
  @Test func anEndHasNoTimeOfItsOwn() {
    let state = state(in: .ending)
    #expect(state.deadline == nil && state.isEnding)
  }

  @Test func aProgramThatCannotBeExecuted() {
    var never = SupervisionState(now: Self.start)
    let first = never.startFailed(now: Self.start)
    #expect(first == .end(71))
    // Replaced just now, say: the next try may find it.
    var later = state(in: .restarting)
    _ = later.ended(.exited(0), now: Self.start)
    let second = later.startFailed(now: Self.start)
    #expect(second == .none)
    #expect(later.deadline == at(.milliseconds(100)))
  }

  /// Who has not ended for a restart does not end for more either.
  @Test func anEndDuringARestartHasTheTimeOfTheRestart() {
    var state = state(in: .restarting)
    _ = state.ordered(.terminate, now: at(.seconds(80)))
    #expect(state.isEnding && state.deadline == at(SupervisionState.restartTime))
    let early = state.timePassed(now: at(.seconds(89)))
    let late = state.timePassed(now: at(.seconds(90)))
    let again = state.timePassed(now: at(.seconds(200)))
    #expect(early == .none && late == .signal(.kill) && again == .none)
    let ended = state.ended(.killed(signal: 9), now: at(.seconds(200)))
    #expect(ended == .end(70))
  }

  @Test func anEndThatIsOrderedDuringARestartIsTheEnd() {
    var state = state(in: .restarting)
    _ = state.ordered(.terminate, now: Self.start)
    let ended = state.ended(.exited(0), now: Self.start)
    #expect(ended == .end(0))
  }
}
