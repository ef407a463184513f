/// How far a load test is, for somebody who watches: which part, and how much of it is done.
internal import Synchronization

package final class BenchProgress: Sendable {
  package enum Part: Int, Sendable {
    case registering, admitting, opening, echoing
  }

  private let part = Atomic<Int>(Part.registering.rawValue)
  private let done = Atomic<Int>(0)
  private let ended = Atomic<Int>(0)

  package init() {}

  /// The part, and the things done in it.
  package var now: (part: Part, done: Int) {
    (Part(rawValue: part.load(ordering: .relaxed)) ?? .registering, done.load(ordering: .relaxed))
  }

  /// Threads that have nothing left to do.
  package var endedThreads: Int { ended.load(ordering: .acquiring) }

  func begin(_ part: Part) {
    done.store(0, ordering: .relaxed)
    self.part.store(part.rawValue, ordering: .relaxed)
  }

  func count() { done.add(1, ordering: .relaxed) }
  func end() { ended.add(1, ordering: .releasing) }
}
