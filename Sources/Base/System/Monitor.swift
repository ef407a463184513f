/// State that threads share and wait for: a mutex, a condition, and the value they guard.
internal import Glibc

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
    // Deadlines are those of CLOCK_MONOTONIC: the wall clock may jump.
    var attributes = pthread_condattr_t()
    guard unsafe pthread_condattr_init(&attributes) == 0,
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0,
      unsafe pthread_mutex_init(mutex, nil) == 0, unsafe pthread_cond_init(condition, &attributes) == 0
    else { fatalError("no memory for a monitor") }
    _ = unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    _ = unsafe pthread_cond_destroy(condition)
    _ = unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Wakes waiters when the state has changed; valid only inside `withLock`.
  @safe package struct Wake: ~Copyable {
    fileprivate let condition: UnsafeMutablePointer<pthread_cond_t>

    package borrowing func one() { _ = unsafe pthread_cond_signal(condition) }
    package borrowing func all() { _ = unsafe pthread_cond_broadcast(condition) }
  }

  package func withLock<Result>(_ body: (inout State, borrowing Wake) -> Result) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    return body(&state, unsafe Wake(condition: condition))
  }

  /// Looks at the state now and after each wake, until `body` is done.
  package func wait<Result>(_ body: (inout State) -> Waited<Result>) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    while true {
      if case .done(let result) = body(&state) { return result }
      _ = unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// The same, given up with a last look when `deadline` has passed; nil when that came to nothing either.
  package func wait<Result>(
    until deadline: MonotonicTime, _ body: (inout State) -> Waited<Result>
  ) -> Result? {
    var time = timespec(
      tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    var isLate = false
    while true {
      if case .done(let result) = body(&state) { return result }
      if isLate { return nil }
      isLate = unsafe pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT
    }
  }
}
