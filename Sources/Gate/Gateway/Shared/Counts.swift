/// Numbers that all loops change and any thread reads: counts with a limit or without one, sums, and names given out once.
internal import Synchronization

/// A number that all loops add to.
final class Count: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .relaxed) }

  @discardableResult
  func increment() -> Int { number.wrappingAdd(1, ordering: .relaxed).newValue }
  func decrement() { number.wrappingSubtract(1, ordering: .relaxed) }

  /// Adds one unless there are `limit` already.
  func enter(limit: Int) -> Bool {
    if increment() <= limit { return true }
    decrement()
    return false
  }

  func leave() { decrement() }
}

/// Numbers from 1 on, each once.
final class Sequence: Sendable {
  private let last: Atomic<UInt64>

  init(after last: UInt64 = 0) {
    self.last = Atomic(last)
  }

  func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// A sum that all loops change.
final class Sum: Sendable {
  private let sum = Atomic<Int>(0)

  var value: Int { sum.load(ordering: .relaxed) }

  /// What it is then.
  func change(by amount: Int) -> Int {
    amount == 0 ? value : sum.wrappingAdd(amount, ordering: .relaxed).newValue
  }

  /// Adds `amount` unless that is more than `limit`; false where it is.
  func reserve(_ amount: Int, within limit: Int) -> Bool {
    if change(by: amount) <= limit { return true }
    _ = change(by: -amount)
    return false
  }
}
