/// A value behind a lock that every platform has: newer ones want newer systems than iOS 15.
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Android
#endif

final class Shared<Value>: @unchecked Sendable {
  // At one address from init to deinit, as the calls want it; `value` is touched only between lock and unlock.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  init(_ value: Value) {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    guard pthread_mutex_init(mutex, nil) == 0 else { fatalError("no memory for a lock") }
    self.value = value
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
