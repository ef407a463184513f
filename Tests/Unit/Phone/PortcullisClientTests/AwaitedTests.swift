/// Callbacks that come once, twice, late or never: whoever waits gets one answer.
import Testing

import PortcullisTesting

@testable import PortcullisClient

@Suite struct AwaitedTests {
  private struct Lost: Error, Equatable {
    var number = 0
  }

  @Test func anAnswerIsTheCallers() async throws {
    let awaited = Awaited<Int>()
    let value = try await awaited.value { turn in awaited.resume(.success(7), turn: turn) }
    #expect(value == 7)
    // The next turn is another one.
    await #expect(throws: Lost(number: 1)) {
      try await awaited.value { turn in awaited.resume(.failure(Lost(number: 1)), turn: turn) }
    }
  }

  /// URLSession's handler of a ping, when the task is cancelled meanwhile.
  @Test func aSecondAnswerIsNobodys() async throws {
    let awaited = Awaited<Int>()
    let value = try await awaited.value { turn in
      awaited.resume(.success(1), turn: turn)
      awaited.resume(.success(2), turn: turn)
      awaited.resume(.failure(Lost()), turn: turn)
    }
    #expect(value == 1)
  }

  @Test func aLateAnswerIsNotTheNextCallers() async throws {
    let awaited = Awaited<Int>()
    let first = Locked(0)
    _ = try await awaited.value { turn in
      first.withLock { $0 = turn }
      awaited.resume(.success(1), turn: turn)
    }
    let second = try await awaited.value { turn in
      awaited.resume(.success(1), turn: first.withLock { $0 })
      awaited.resume(.success(2), turn: turn)
    }
    #expect(second == 2)
  }

  @Test func theEndIsAnAnswer() async {
    let awaited = Awaited<Int>()
    await #expect(throws: Lost(number: 3)) {
      try await awaited.value { _ in awaited.end(Lost(number: 3)) }
    }
    // For good, and the first one: nothing is begun any more.
    awaited.end(Lost(number: 4))
    await #expect(throws: Lost(number: 3)) {
      try await awaited.value { _ in Issue.record("begun behind the end") }
    }
  }

  @Test func anAnswerBehindTheEndIsNobodys() async {
    let awaited = Awaited<Int>()
    await #expect(throws: Lost()) {
      try await awaited.value { turn in
        awaited.end(Lost())
        awaited.resume(.success(1), turn: turn)
      }
    }
  }

  @Test func whoWaitsIsToldThatAnotherOneCame() async throws {
    let awaited = Awaited<Int>()
    let first = Locked<Task<Int, any Error>?>(nil)
    let hasBegun = AsyncStream<Void>.makeStream()
    first.withLock { $0 = Task { try await awaited.value { _ in hasBegun.continuation.yield() } } }
    for await _ in hasBegun.stream { break }
    let second = try await awaited.value { turn in awaited.resume(.success(2), turn: turn) }
    #expect(second == 2)
    let task = try #require(first.withLock { $0 })
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  /// Answers by many threads while callers come and go: each caller gets one, and its own.
  @Test func manyAnswersAtOnce() async throws {
    let awaited = Awaited<Int>()
    for number in 0..<500 {
      let answers = Locked<[Task<Void, Never>]>([])
      let value = try await awaited.value { turn in
        answers.withLock { answers in
          answers = (0..<4).map { _ in Task { awaited.resume(.success(number), turn: turn) } }
        }
      }
      #expect(value == number)
      for answer in answers.withLock({ $0 }) { await answer.value }
    }
  }
}
