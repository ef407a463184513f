import Bytes
import KeyStore
import System
import Testing
import Time

@testable import Admission

/// The steps of a revocation one by one; `RevocationModelTests` has them in any order.
@Suite struct RevocationTests {
  private var revocation = Revocation(loops: 2)
  private let key = KeyIdentifier(Bytes32(words: 1, 2, 3, 4))
  private let session = SessionReference(loop: 1, token: 7)

  private mutating func mark(_ key: KeyIdentifier) throws -> Revocation.Mark {
    guard case .mark(let mark) = revocation.end(key), mark.key == key else {
      throw Unexpected(state: revocation.state)
    }
    return mark
  }

  private mutating func heard(_ round: Revocation.Round) -> Revocation.Action {
    _ = revocation.heard(round, by: 0)
    return revocation.heard(round, by: 1)
  }

  private struct Unexpected: Error { let state: Revocation.State }

  private func round(_ action: Revocation.Action) throws -> Revocation.Round {
    guard case .tell(let round) = action else { throw Unexpected(state: revocation.state) }
    return round
  }

  @Test mutating func inOrder() throws {
    let mark = try mark(key)
    #expect(revocation.complete() == .nothing && revocation.state == .ordered)
    let telling = try round(revocation.marked(mark, ending: [session]))
    #expect(revocation.state == .telling)
    #expect(heard(telling) == .nothing)
    let arriving = try round(revocation.ended(session))
    #expect(revocation.state == .arriving)
    #expect(heard(telling) == .nothing, "an answer to the question before")
    #expect(heard(arriving) == .nothing && revocation.state == .writing)
    #expect(revocation.wrote(mark, .written) == .settle && revocation.state == .settled)
    #expect(revocation.outcome.sessionsEnded == 1 && revocation.outcome.sessionsLeft == 0)
    #expect(!revocation.outcome.isSilent && revocation.outcome.unwritten.isEmpty)
    #expect(revocation.outcome.unmarked.isEmpty)
  }

  /// A store that does not answer: the key may still be refused later, and nobody says that it is.
  @Test mutating func aMarkThatDoesNotComeInTime() throws {
    let (late, marked) = (try mark(key), try mark(KeyIdentifier(Bytes32(words: 5, 6, 7, 8))))
    #expect(revocation.marked(marked) == .nothing && revocation.complete() == .nothing)
    #expect(revocation.expired() == .nothing && revocation.state == .writing)
    #expect(revocation.wrote(marked, .written) == .nothing)
    #expect(revocation.expired() == .settle)
    #expect(revocation.outcome.unmarked == [key] && revocation.outcome.unwritten == [key])
    #expect(revocation.marked(late) == .nothing && revocation.outcome.unmarked == [key])
  }

  /// Loops are not asked before each mark stands, also one that is named twice.
  @Test mutating func noLoopIsAskedBeforeTheMarks() throws {
    let (first, second) = (try mark(key), try mark(key))
    #expect(first != second)
    #expect(revocation.complete() == .nothing)
    #expect(revocation.marked(first) == .nothing)
    #expect(revocation.marked(first) == .nothing, "the same once more")
    _ = try round(revocation.marked(second))
  }

  /// What is named while loops are asked has them asked again.
  @Test(arguments: [Revocation.State.telling, .arriving, .writing])
  mutating func moreIsNamed(during state: Revocation.State) throws {
    let mark = try mark(key)
    _ = revocation.complete()
    var asked = try round(revocation.marked(mark))
    while revocation.state != state { if case .tell(let next) = heard(asked) { asked = next } }
    let again = try round(revocation.ending([session]))
    #expect(revocation.state == .telling)
    #expect(heard(asked) == .nothing && heard(again) == .nothing)
    _ = try round(revocation.ended(session))
  }

  /// A session may end before it is known that it was told to.
  @Test mutating func aSessionThatEndsAtOnce() throws {
    #expect(revocation.ended(session) == .nothing)
    #expect(revocation.ending([session]) == .nothing)
    var action = revocation.complete()
    while case .tell(let round) = action { action = heard(round) }
    #expect(action == .settle && revocation.outcome.sessionsEnded == 1)
  }

  /// The disk has the key where one of its marks is written; one that nobody has registered is not to be written.
  @Test(arguments: [
    ([Revocation.Written.written], true), ([.failed], false), ([.nothingToWrite], true),
    ([.failed, .written], true), ([.written, .failed], true), ([.nothingToWrite, .failed], false),
    ([.failed, .nothingToWrite], false),
  ])
  mutating func whatIsWritten(results: [Revocation.Written], isWritten: Bool) throws {
    let marks = try results.map { _ in try mark(key) }
    for (mark, result) in zip(marks, results) {
      _ = revocation.marked(mark)
      _ = revocation.wrote(mark, result)
    }
    var action = revocation.complete()
    while case .tell(let round) = action { action = heard(round) }
    #expect(action == .settle && revocation.outcome.unwritten.isEmpty == isWritten)
  }

  /// What does not come is said, in each step; and what comes then changes nothing.
  @Test(arguments: Revocation.State.allCases) mutating func theTimeIsOver(in state: Revocation.State) throws {
    let mark = try mark(key)
    try go(to: state, mark)
    while revocation.state != .settled { _ = revocation.expired() }
    let outcome = revocation.outcome
    #expect(outcome.isSilent == [.ordered, .telling, .arriving].contains(state))
    #expect(outcome.unwritten.isEmpty == (state == .settled))
    #expect(outcome.sessionsLeft == (state == .telling ? 1 : 0))
    _ = revocation.marked(mark, ending: [SessionReference(loop: 0, token: 1)])
    _ = revocation.wrote(mark, .written)
    #expect(revocation.end(key) == .nothing && revocation.outcome == outcome)
  }

  /// Everybody answers until it has come so far.
  private mutating func go(to state: Revocation.State, _ mark: Revocation.Mark) throws {
    _ = revocation.complete()
    if state == .ordered { return }
    let telling = try round(revocation.marked(mark, ending: [session]))
    if state == .telling { return }
    _ = revocation.ended(session)
    let arriving = try round(heard(telling))
    if state == .arriving { return }
    _ = heard(arriving)
    if state == .settled { _ = revocation.wrote(mark, .written) }
    #expect(revocation.state == state)
  }

  // MARK: Threads

  /// Who waits goes on as soon as the last loop has answered.
  @Test func whoWaitsIsTold() throws {
    let asked = Monitor<[RevocationOrder.Question]>([])
    let order = RevocationOrder(loops: 2) { question, _ in
      asked.withLock { asked, wake in
        asked.append(question)
        wake.all()
      }
    }
    let mark = try #require(order.end(key))
    let thread = try Thread(name: "loops") {
      for _ in 0..<4 {
        let question = asked.wait { asked -> Waited<RevocationOrder.Question> in
          asked.isEmpty ? .wait : .done(asked.removeFirst())
        }
        question.answer()
      }
      order.wrote(mark, .failed)
    }
    order.complete()
    order.marked(mark)
    #expect(order.settled().unwritten == [key])
    #expect(order.end(key) == nil)
    thread.join()
  }
}
