/// Numbers that all loops change and any thread reads: counts with a limit or without one, sums, and names given out once.
public import Synchronization

/// A number that all loops add to.
public final class Count: Sendable {
  @usableFromInline let number = Atomic<Int>(0)

  public init() {}

  @inlinable public var value: Int { number.load(ordering: .relaxed) }

  @discardableResult
  @inlinable
  public func increment() -> Int { number.wrappingAdd(1, ordering: .relaxed).newValue }
  @inlinable
  public func decrement() { number.wrappingSubtract(1, ordering: .relaxed) }

  /// Adds one unless there are `limit` already.
  @inlinable
  public func enter(limit: Int) -> Bool {
    if increment() <= limit { return true }
    decrement()
    return false
  }

  @inlinable
  public func leave() { decrement() }
}

/// Numbers from 1 on, each once.
public final class Sequence: Sendable {
  @usableFromInline let last: Atomic<UInt64>

  public init(after last: UInt64 = 0) {
    self.last = Atomic(last)
  }

  @inlinable
  public func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// A sum that all loops change.
public final class Sum: Sendable {
  @usableFromInline let sum = Atomic<Int>(0)

  public init() {}

  @inlinable public var value: Int { sum.load(ordering: .relaxed) }

  /// What it is then.
  @inlinable
  public func change(by amount: Int) -> Int {
    amount == 0 ? value : sum.wrappingAdd(amount, ordering: .relaxed).newValue
  }

  /// Adds `amount` unless that is more than `limit`; false where it is.
  @inlinable
  public func reserve(_ amount: Int, within limit: Int) -> Bool {
    if change(by: amount) <= limit { return true }
    _ = change(by: -amount)
    return false
  }
}
