/// Threads as the kernel has them: a name, a niceness, a body that runs once.
internal import CLinux
internal import Glibc

/// A started thread, to be joined once.
package struct Thread: ~Copyable {
  fileprivate let handle: pthread_t

  /// Niceness of threads that work for milliseconds beside the loops; they are batch threads (sched(7)) with the longest
  /// slices, too. Each time a loop runs while such a thread waits, Linux's scheduler (EEVDF) notes that it had more than
  /// its share, by the weight of the other: a loop that is woken while that is still noted preempts nobody and waits until
  /// the other stops by itself or the tick comes, some 0.6 ms. And a thread that wakes preempts a loop whose slice is over,
  /// batch threads excepted. Figures:
  /// docs/decisions/0020-registrations-beside-the-loops.md.
  package static let behindLoops: Int32 = 19

  /// What the calling thread was given when it was started, whatever niceness the whole process has.
  package static var niceness: Int32 { portcullis_thread_nice() }

  /// - Parameters:
  ///   - name: at most 15 bytes, as `top -H` shows it.
  ///   - niceness: 0 to 19, for this thread alone.
  ///   - isPrompt: it works in short pieces and is to run as soon as it wakes, whatever the processor does just then.
  package init(
    name: String, niceness: Int32 = 0, isPrompt: Bool = false, _ body: sending @escaping () -> Void
  ) throws(SystemError) {
    let box = Body(name: name, niceness: niceness, isPrompt: isPrompt, body)
    var handle = pthread_t()
    // The box is retained here and released by the thread itself, exactly once.
    let argument = unsafe Unmanaged.passRetained(box)
    let error = unsafe pthread_create(
      &handle, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, argument.toOpaque())
    guard error == 0 else {
      unsafe argument.release()
      throw SystemError("pthread_create", error)
    }
    self.handle = handle
  }

  /// The calling thread stands still for a moment; shorter if a signal comes.
  /// - Parameter duration: below a second.
  package static func pause(_ duration: Duration) {
    var time = timespec(tv_sec: 0, tv_nsec: Int(duration.components.attoseconds / 1_000_000_000))
    unsafe nanosleep(&time, nil)
  }

  /// What the calling thread has had of processors.
  package static var processorTime: Duration { .nanoseconds(Int64(portcullis_thread_cpu())) }

  /// Between two pieces of work, outside of all locks that loops take: a thread behind the loops lets one run that waits for
  /// its processor, and would wait until this thread stops by itself or the tick comes. Nothing is given away, as
  /// `sched_yield` would: the kernel looks whose turn it is, and goes on. It is asked at most every 30 µs, for 0.4 µs; by
  /// loops never.
  package static func preemptionPoint() { portcullis_preemption_point() }

  /// Waits until the body has returned.
  package consuming func join() {
    _ = pthread_join(handle, nil)
  }

  /// Nobody will wait for it.
  package consuming func detach() {
    _ = pthread_detach(handle)
  }

  private final class Body {
    let name: String
    let niceness: Int32
    let isPrompt: Bool
    let body: () -> Void

    init(name: String, niceness: Int32, isPrompt: Bool, _ body: @escaping () -> Void) {
      self.name = name
      self.niceness = niceness
      self.isPrompt = isPrompt
      self.body = body
    }

    func run() {
      _ = unsafe name.withCString { name in unsafe portcullis_thread_name(name) }
      // Neither is worth a failure: without them the thread does its work at other times.
      if niceness != 0 { _ = portcullis_set_thread_nice(niceness) }
      if isPrompt { _ = portcullis_set_thread_slice(100_000) }
      if niceness == Thread.behindLoops { _ = portcullis_set_thread_batch(100_000_000) }
      body()
    }
  }
}

/// A thread among others in a collection, which cannot hold a `Thread` itself.
package final class JoinHandle: Sendable {
  private let thread: pthread_t

  package init(_ thread: consuming Thread) {
    self.thread = thread.handle
  }

  /// Waits until the body has returned; to be called once.
  package func join() {
    _ = pthread_join(thread, nil)
  }
}
