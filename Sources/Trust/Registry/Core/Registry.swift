/// The registry: one thread, one store, one clock, and a queue in front of them (docs/devices-operating.md, "The registry").
///
/// What waits is taken in groups. Each call has a savepoint of its own, the group one sync; whoever asked hears of it
/// when it is on the disk.
internal import Bytes
internal import DeviceWire
package import PortcullisProtocol
internal import Synchronization
package import System
package import Time

package final class Registry: Sendable {
  /// What other threads tell the registry's.
  struct Inbox {
    private var queue = RequestQueue<Request>()
    /// Of those whose evidence was judged: whoever only asks keeps none of them out.
    private var brought = RequestQueue<Request>()
    private var asked = RequestQueue<Request>()
    /// The registry looks at it by itself, and need not be woken.
    private(set) var isEvidenceResting = false
    /// What judging evidence has taken since some was served.
    var judging: Duration = .zero
    var cancelled: [RequestHandle] = []
    var refusals: [RefusalCode: Int] = [:]
    var settings: RegistrySettings?
    var isDraining = false
    var isStopping = false
    var lastNumber: UInt64 = 0

    var isEmpty: Bool { queue.isEmpty && brought.isEmpty && asked.isEmpty }

    /// Somebody waits, and the next group has room for more.
    var mayGather: Bool {
      !queue.isEmpty && queue.count < RegistryWorker.groupLimit && !isStopping && !isDraining
    }

    /// False when the queue is full.
    mutating func append(_ request: Request, lane: Lane) -> Bool {
      let urgency = request.call.urgency
      return switch request.call.evidenceStep {
      case .none: queue.append(request, lane: lane, urgency: urgency)
      case .brought: brought.append(request, lane: lane, urgency: urgency)
      case .asked: asked.append(request, lane: lane, urgency: urgency)
      }
    }

    /// The next of those who wait, evidence behind all others; it has its place also where others are many. Whoever ends
    /// takes it as it comes.
    mutating func take(_ limit: Int, isEvidenceResting: Bool) -> [Request] {
      self.isEvidenceResting = isEvidenceResting && !isDraining && !isStopping
      var group: [Request] = []
      let evidence = self.isEvidenceResting ? 0 : min(EvidencePace.limit, brought.count + asked.count)
      while group.count < limit - evidence, let request = queue.next() { group.append(request) }
      for _ in 0..<evidence { if let request = brought.next() ?? asked.next() { group.append(request) } }
      return group
    }
  }

  struct Request: Sendable {
    let handle: RequestHandle
    var call: any RegistryCall
    let origin: Origin
    let wait: Duration?
    var clientVersion: String?
    /// Told once whose token the request has come with.
    var bearer: (@Sendable (DeviceID) -> Void)?
    let completion: @Sendable (Reply) -> Void
    /// Set when it begins to wait.
    var waitsUntil: MonotonicTime?

    /// The same with more to do, and nobody to be told what comes of it.
    func unheard(_ call: any RegistryCall) -> Request {
      Request(handle: handle, call: call, origin: origin, wait: nil, completion: { _ in })
    }
  }

  /// The gate's own name in all that is signed.
  package let server: ServerID
  private let inbox: Monitor<Inbox>
  private let published: PublishedNumbers
  private let revocations: OrderedRevocations
  private let listener: any RegistryListener
  private let served: Served
  /// The thread is at its end.
  private let hasEnded = Monitor(false)
  /// Nil until it begins.
  private let thread = Mutex<JoinHandle?>(nil)

  /// Nothing is served before `begin`, so that a registry can be made before the sandbox is raised.
  /// - Parameter store: opened; used by the registry's thread alone from then on.
  package convenience init(
    _ store: sending RegistryDatabase, settings: RegistrySettings, clock: any Clock, entropy: any Entropy,
    listener: any RegistryListener
  ) throws(StoreFailure) {
    try self.init(
      store, settings: settings, clock: clock, entropy: entropy, listener: listener,
      evidencePace: EvidencePace())
  }

  init(
    _ store: sending RegistryDatabase, settings: RegistrySettings, clock: any Clock, entropy: any Entropy,
    listener: any RegistryListener, evidencePace: EvidencePace
  ) throws(StoreFailure) {
    let inbox = Monitor(Inbox())
    let worker = try RegistryWorker(
      store, settings: settings, clock: clock, entropy: entropy, listener: listener, inbox: inbox,
      evidencePace: evidencePace)
    server = worker.server
    published = worker.published
    revocations = worker.revocations
    self.listener = listener
    served = Served(worker: worker)
    self.inbox = inbox
  }

  /// Its thread serves from then on; to be called once.
  package func begin() throws(SystemError) {
    let (served, hasEnded) = (served, hasEnded)
    let thread = try Thread(name: "registry", niceness: Thread.behindLoops) {
      served.worker.run()
      hasEnded.withLock { state, wake in
        state = true
        wake.all()
      }
    }
    let handle = JoinHandle(thread)
    self.thread.withLock { $0 = handle }
  }

  /// - Parameters:
  ///   - wait: for a long poll, how long it may wait for something to say.
  ///   - clientVersion: what the app says its version is.
  ///   - bearer: told, before `completion`, whose token it was, where it was a device's and good, whatever came of the call.
  /// What a revocation takes away at once is taken away when this returns: the disk may hang, and the registry with it.
  /// - Returns: nil when the queue is full; `completion` is not called then, and else exactly once, unless the request is
  ///   cancelled.
  package func submit(
    _ call: any RegistryCall, lane: Lane, origin: Origin, wait: Duration? = nil,
    clientVersion: String? = nil, bearer: (@Sendable (DeviceID) -> Void)? = nil,
    completion: @escaping @Sendable (Reply) -> Void
  ) -> RequestHandle? {
    let isRevocation = call.urgency == .revocation
    let handle: RequestHandle? = inbox.withLock { inbox, wake in
      guard !inbox.isStopping else { return nil }
      inbox.lastNumber += 1
      let handle = RequestHandle(number: inbox.lastNumber)
      let request = Request(
        handle: handle, call: call, origin: origin, wait: inbox.isDraining ? nil : wait,
        clientVersion: clientVersion, bearer: bearer, completion: completion)
      guard inbox.append(request, lane: lane) else { return nil }
      if isRevocation { revocations.add(handle, call) }
      if call.evidenceStep == .none || !inbox.isEvidenceResting { wake.one() }
      return handle
    }
    if handle != nil, isRevocation, !call.immediate.isEmpty {
      for effect in call.immediate { listener.hear(effect) }
      listener.told()
    }
    return handle
  }

  /// Nobody waits for the answer any more. What the request changes may have come true all the same; a revocation does.
  package func cancel(_ handle: RequestHandle) {
    inbox.withLock { inbox, wake in
      inbox.cancelled.append(handle)
      wake.one()
    }
  }

  /// A stranger was refused before it came to a call: counted for the audit.
  package func note(refusal code: RefusalCode) {
    guard code.isDecision else { return }
    inbox.withLock { inbox, wake in
      if inbox.refusals.isEmpty { wake.one() }
      inbox.refusals[code, default: 0] += 1
    }
  }

  /// Judges evidence: what that takes is paid for by evidence that is served later.
  package func judging(_ body: () -> Void) {
    let before = Thread.processorTime
    body()
    let taken = Thread.processorTime - before
    inbox.withLock { inbox, _ in inbox.judging += taken }
  }

  /// As of the last group that was written. From any thread.
  package var numbers: RegistryNumbers { published.value }

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

  /// A disk that hangs is not waited for any longer than this.
  package static let longestEnd: Duration = .seconds(10)

  /// Serves what is queued, tries once more to write what could not be written, closes the store, and returns when the
  /// thread has ended; to be called once.
  /// - Returns: revocations that were ordered and are not on the disk: with the process they are gone.
  @discardableResult
  package func stop(within time: Duration = longestEnd) -> [String] {
    inbox.withLock { inbox, wake in
      inbox.isDraining = true
      inbox.isStopping = true
      wake.one()
    }
    if let thread = thread.withLock({ $0 }) {
      let deadline = SystemClock().monotonic() + time
      let ended: Bool? = hasEnded.wait(until: deadline) { state -> Waited<Bool> in
        state ? .done(true) : .wait
      }
      if ended == true { thread.join() }
    } else {
      served.worker.close()
    }
    let lost = revocations.unwritten
    if !lost.isEmpty { listener.note(.revocationsLost(lost)) }
    return lost
  }
}

/// Carries the worker into its thread, which alone uses it once there is one.
private struct Served: @unchecked Sendable {
  let worker: RegistryWorker
}
