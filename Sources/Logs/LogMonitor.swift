/// A state under a lock, and a way to wait for it to become something: pthread's mutex and condition.
internal import Glibc
internal import System

/// The body of `wait` sees the state only while the lock is held; the wait itself lies between two such
/// looks, so that no access to the state spans it.
@safe
final class LogMonitor<State>: @unchecked Sendable {
  // Both are initialised once here, used only through their own calls, and freed when nobody has the monitor
  // any more.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  init(_ state: State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    let failed =
      unsafe pthread_mutex_init(mutex, nil) != 0 || pthread_cond_init(condition, &attributes) != 0
    unsafe pthread_condattr_destroy(&attributes)
    if failed { fatalError("a mutex and a condition could not be made") }
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Wakes all who wait when `body` says so.
  func change(_ body: (inout State) -> Bool) {
    unsafe pthread_mutex_lock(mutex)
    let wakes = body(&state)
    unsafe pthread_mutex_unlock(mutex)
    if wakes { unsafe pthread_cond_broadcast(condition) }
  }

  /// What `body` returns as soon as it is not nil, looking again after each change; nil when `deadline` (of
  /// CLOCK_MONOTONIC) passes first.
  func wait<Result>(until deadline: MonotonicTime? = nil, for body: (inout State) -> Result?) -> Result? {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      if let deadline {
        var time = timespec(
          tv_sec: Int(deadline.nanoseconds / 1_000_000_000),
          tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        if unsafe pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return body(&state) }
      } else {
        unsafe pthread_cond_wait(condition, mutex)
      }
    }
  }
}
