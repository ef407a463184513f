/// State that threads share and wait for: a mutex, a condition, and the value they guard.
internal import Glibc
package import Time

/// What a waiter's look at the state came to.
package enum Waited<Result> {
  case wait
  case done(Result)
}

@safe package final class Monitor<State>: @unchecked Sendable {
  // Both live from init to deinit at one address; `state` is touched only between lock and unlock.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  package init(_ state: sending State) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    self.state = state
    unsafe check(pthread_mutex_init(mutex, nil))
    // Deadlines are those of CLOCK_MONOTONIC: the wall clock may jump.
    var attributes = pthread_condattr_t()
    unsafe check(pthread_condattr_init(&attributes))
    unsafe check(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
    unsafe check(pthread_cond_init(condition, &attributes))
    unsafe check(pthread_condattr_destroy(&attributes))
  }

  deinit {
    unsafe check(pthread_cond_destroy(condition))
    unsafe check(pthread_mutex_destroy(mutex))
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Whom a change wakes.
  package enum Wake {
    case none, one, all

    package mutating func one() { if case .none = self { self = .one } }
    package mutating func all() { self = .all }
  }

  /// Waiters are woken when the state is free again: one that runs at once has not to wait for it.
  package func withLock<Result>(_ body: (inout State, inout Wake) -> Result) -> Result {
    var wake = Wake.none
    unsafe check(pthread_mutex_lock(mutex))
    let result = body(&state, &wake)
    unsafe check(pthread_mutex_unlock(mutex))
    switch wake {
    case .none: break
    case .one: unsafe check(pthread_cond_signal(condition))
    case .all: unsafe check(pthread_cond_broadcast(condition))
    }
    return result
  }

  /// Looks at the state now and after each wake, until `body` is done.
  package func wait<Result>(_ body: (inout State) -> Waited<Result>) -> Result {
    unsafe check(pthread_mutex_lock(mutex))
    defer { unsafe check(pthread_mutex_unlock(mutex)) }
    while true {
      if case .done(let result) = body(&state) { return result }
      unsafe check(pthread_cond_wait(condition, mutex))
    }
  }

  /// The same, given up with a last look when `deadline` has passed; nil when that came to nothing either.
  package func wait<Result>(
    until deadline: MonotonicTime, _ body: (inout State) -> Waited<Result>
  ) -> Result? {
    var time = timespec(
      tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
    unsafe check(pthread_mutex_lock(mutex))
    defer { unsafe check(pthread_mutex_unlock(mutex)) }
    var isLate = false
    while true {
      if case .done(let result) = body(&state) { return result }
      if isLate { return nil }
      let error = unsafe pthread_cond_timedwait(condition, mutex, &time)
      isLate = error == ETIMEDOUT
      if !isLate { check(error) }
    }
  }

  /// These calls fail only when used wrongly.
  private func check(_ error: Int32) {
    if error != 0 { fatalError("\(SystemError("pthread", error))") }
  }
}
