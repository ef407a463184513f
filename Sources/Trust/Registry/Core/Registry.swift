/// The registry: one thread, one store, one clock, and a queue in front of them (docs/devices.md, "The registry").
///
/// What waits is taken in groups. Each call has a savepoint of its own, the group one sync; whoever asked hears of it
/// when it is on the disk.
internal import Bytes
package import System

package final class Registry: Sendable {
  /// What other threads tell the registry's.
  struct Inbox {
    var queue = RequestQueue<Request>()
    var cancelled: [RequestHandle] = []
    var settings: RegistrySettings?
    var isDraining = false
    var isStopping = false
    var lastNumber: UInt64 = 0
  }

  struct Request: Sendable {
    let handle: RequestHandle
    let call: any RegistryCall
    let origin: Origin
    let wait: Duration?
    let completion: @Sendable (Reply) -> Void
    /// Set when it begins to wait.
    var waitsUntil: MonotonicTime?
  }

  private let inbox: Monitor<Inbox>
  private let thread: JoinHandle

  /// The thread serves from then on.
  /// - Parameter store: opened; used by the registry's thread alone.
  package init(
    _ store: sending any RegistryStore, settings: RegistrySettings, clock: any Clock, entropy: any Entropy,
    listener: any RegistryListener
  ) throws(RegistryStartFailure) {
    let inbox = Monitor(Inbox())
    let worker: RegistryWorker
    do throws(StoreFailure) {
      worker = try RegistryWorker(
        store, settings: settings, clock: clock, entropy: entropy, listener: listener, inbox: inbox)
    } catch {
      throw .store(error)
    }
    let start = WorkerStart(worker: worker)
    do throws(SystemError) {
      thread = JoinHandle(
        try Thread(name: "registry", niceness: Thread.behindLoops) { start.worker.run() })
    } catch {
      throw .system(error)
    }
    self.inbox = inbox
  }

  /// - Parameter wait: for a long poll, how long it may wait for something to say.
  /// - Returns: nil when the queue is full; `completion` is not called then, and else exactly once, unless the request is
  ///   cancelled.
  package func submit(
    _ call: any RegistryCall, lane: Lane, origin: Origin, wait: Duration? = nil,
    completion: @escaping @Sendable (Reply) -> Void
  ) -> RequestHandle? {
    inbox.withLock { inbox, wake in
      guard !inbox.isStopping else { return nil }
      inbox.lastNumber += 1
      let handle = RequestHandle(number: inbox.lastNumber)
      let request = Request(
        handle: handle, call: call, origin: origin, wait: inbox.isDraining ? nil : wait,
        completion: completion)
      guard inbox.queue.append(request, lane: lane, urgency: call.urgency) else { return nil }
      wake.one()
      return handle
    }
  }

  /// Nobody waits for the answer any more. What the request changes may have come true all the same.
  package func cancel(_ handle: RequestHandle) {
    inbox.withLock { inbox, wake in
      inbox.cancelled.append(handle)
      wake.one()
    }
  }

  package func reload(_ settings: RegistrySettings) {
    inbox.withLock { inbox, wake in
      inbox.settings = settings
      wake.one()
    }
  }

  /// All who wait are answered, and from now on everybody at once.
  package func drain() {
    inbox.withLock { inbox, wake in
      inbox.isDraining = true
      wake.one()
    }
  }

  /// Serves what is queued, closes the store, and returns when the thread has ended; to be called once.
  package func stop() {
    inbox.withLock { inbox, wake in
      inbox.isDraining = true
      inbox.isStopping = true
      wake.one()
    }
    thread.join()
  }
}

package enum RegistryStartFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case store(StoreFailure)
  case system(SystemError)

  package var description: String {
    switch self {
    case .store(let failure): failure.description
    case .system(let error): error.description
    }
  }
}

/// Carries the worker into its thread, which alone uses it from then on.
private struct WorkerStart: @unchecked Sendable {
  let worker: RegistryWorker
}
