/// A doorbell for one waiting thread: rung any number of times, it wakes the waiter once.
internal import Glibc

/// Rings are not counted and none is lost: one that comes before `wait` makes the next `wait` return at once.
/// The pointers are private and never handed out, so using a `Signal` is safe.
@safe package final class Signal: Sendable {
  // Both live from init to deinit at one address and are touched by pthread calls alone; `isRung` under the
  // mutex.
  private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>
  private nonisolated(unsafe) let isRung: UnsafeMutablePointer<Bool>

  package init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe isRung = .allocate(capacity: 1)
    unsafe isRung.initialize(to: false)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe check(pthread_mutex_init(mutex, nil))
    // Deadlines are readings of the monotonic clock: a set wall clock must not wake or hold anybody.
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
    unsafe isRung.deallocate()
  }

  package func ring() {
    unsafe check(pthread_mutex_lock(mutex))
    let wasRung = unsafe isRung.pointee
    unsafe isRung.pointee = true
    unsafe check(pthread_mutex_unlock(mutex))
    if !wasRung { unsafe check(pthread_cond_signal(condition)) }
  }

  /// Returns when rung, or at `deadline` of the system's monotonic clock; without one it may wait for ever.
  /// - Returns: whether it was rung.
  @discardableResult
  package func wait(until deadline: MonotonicTime? = nil) -> Bool {
    unsafe check(pthread_mutex_lock(mutex))
    defer {
      unsafe isRung.pointee = false
      unsafe check(pthread_mutex_unlock(mutex))
    }
    while unsafe !isRung.pointee {
      guard let deadline else {
        unsafe check(pthread_cond_wait(condition, mutex))
        continue
      }
      var time = timespec(
        tv_sec: Int(clamping: deadline.nanoseconds / 1_000_000_000),
        tv_nsec: Int(clamping: deadline.nanoseconds % 1_000_000_000))
      let error = unsafe pthread_cond_timedwait(condition, mutex, &time)
      if error == ETIMEDOUT { break }
      check(error)
    }
    return unsafe isRung.pointee
  }

  /// These calls fail only when used wrongly.
  private func check(_ error: Int32) {
    if error != 0 { fatalError("\(SystemError("pthread", error))") }
  }
}
