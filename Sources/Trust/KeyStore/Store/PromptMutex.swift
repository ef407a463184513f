/// A lock that loops wait for, and what it guards: no thread of lower priority may take it.
internal import Synchronization
internal import System

/// A thread behind the loops (`Thread.behindLoops`) that loses its processor inside a lock gets it back only after
/// whatever runs before it, and as long every loop waits that wants the lock: up to 83 ms beside one process that takes
/// the whole processor. Builds for testing stop where such a thread takes this one.
struct PromptMutex<Value: ~Copyable>: ~Copyable {
  private let mutex: Mutex<Value>

  init(_ value: consuming sending Value) {
    mutex = Mutex(value)
  }

  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    assert(Thread.niceness == 0, "a thread of niceness \(Thread.niceness) takes a lock that loops wait for")
    return try mutex.withLock(body)
  }
}
