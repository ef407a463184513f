/// The registry's thread: takes requests in groups, runs them, and tells what came of them once the group is durable.
///
/// One turn: 1. take what waits (this file). 2. Run it as a group, commit, tell (`RegistryWorker+Groups`). 3. Where the
/// store has failed, open it anew (`RegistryWorker+Recovery`). 4. Do what is due by time (`RegistryWorker+Upkeep`).
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import PortcullisProtocol
internal import System
internal import Time

final class RegistryWorker {
  /// So many calls share one sync.
  static let groupLimit = 64
  /// Of them, those that were woken or go on, while others wait in the queue.
  private static let readyShare = 16

  let store: RegistryDatabase
  var settings: RegistrySettings
  let clock: any Clock
  var time: RegistryClock
  let entropy: any Entropy
  let listener: any RegistryListener
  let inbox: Monitor<Registry.Inbox>
  let server: ServerID
  let verifier = P256Verifier()
  let tokens: TokenMint
  var devices = DeviceMemory()
  let upkeep: [any Upkeep]
  let published = PublishedNumbers()
  let revocations = OrderedRevocations()

  var waiters = Waiters()
  /// Woken, or with more to do: served in the next groups.
  var ready: [Registry.Request] = []
  /// Taken back before they were served. Empty whenever the queue is.
  private var takenBack = TakenBack()
  private(set) var isDraining = false
  private(set) var evidencePace: EvidencePace

  /// Nothing is promised while there is one.
  var outage: Outage?
  var pastOutage: PastOutage?
  /// Revocations that hold and are not written.
  var unwritten: [Registry.Request] = []
  /// Devices that were said to be gone in a group that was not kept.
  var doubtful: Set<DeviceID> = []

  /// The highest time that the store has.
  var storedTime: UnixTime
  /// When the parts are asked again.
  var dueAt: UnixTime
  var headDueAt: UnixTime
  /// Nil where the log holds nothing that was deleted. A start does not know what the log has that it finds.
  var erasure: Erasure?
  var scrubbing: Scrubbing?
  /// When the last way through the pages ended.
  var scrubbedAt: UnixTime?
  /// Who waits for the copy that is being made.
  var copying: Registry.Request?
  /// Nil when all is read.
  var doorReading: DoorReading?

  /// - Parameters:
  ///   - upkeep: the parts', unless a test has its own.
  ///   - evidencePace: as it is, unless a test has its own.
  init(
    _ store: RegistryDatabase, settings: RegistrySettings, clock: any Clock, entropy: any Entropy,
    listener: any RegistryListener, inbox: Monitor<Registry.Inbox>,
    upkeep: [any Upkeep] = RegistryParts.upkeep, evidencePace: EvidencePace = EvidencePace()
  ) throws(StoreFailure) {
    self.store = store
    self.settings = settings
    self.clock = clock
    self.entropy = entropy
    self.listener = listener
    self.inbox = inbox
    self.upkeep = upkeep
    self.evidencePace = evidencePace
    do throws(CallFailure) {
      server = try Self.server(of: store, entropy)
      storedTime = try Self.time(of: store)
      time = RegistryClock(clock, notBefore: storedTime.promised)
      tokens = try TokenMint(store, at: time.now(), verifier)
      dueAt = time.now()
      headDueAt = dueAt.adding(Self.headInterval)
      erasure = Erasure(due: dueAt)
      try start()
      published.publish(try store.numbers())
    } catch {
      throw error.ofStore
    }
  }

  /// Made once, with the store.
  private static func server(
    of store: RegistryDatabase, _ entropy: any Entropy
  ) throws(CallFailure) -> ServerID {
    if let bytes = try store.value(StoreValue.server), let server = ServerID(bytes) { return server }
    let server = ServerID(random: entropy)
    try store.setValue(StoreValue.server, server.bytes)
    return server
  }

  func run() {
    // What a process that was killed has left in the log goes before anything new comes to it.
    tendIfDue()
    listener.told()
    while let work = next() {
      let (began, spent) = (clock.monotonic(), Thread.processorTime)
      if let settings = work.settings { self.settings = settings }
      for handle in work.cancelled where !takeBack(handle) { takenBack.add(handle) }
      isDraining = work.isDraining
      for (code, count) in work.refusals {
        devices.refusals.note(.stranger(code), count: count, at: time.now())
      }
      recoverIfDue()
      // Who ordered a revocation need not wait for it.
      serve(
        work.group.filter { !takenBack.take($0.handle) || $0.call.urgency == .revocation })
      listener.told()
      if work.isLast { takenBack.clear() }
      tendIfDue()
      if isDraining { giveUpCopy() }
      goOnCopying()
      goOnReadingDoor()
      let ended = isDraining ? waiters.end() : waiters.expire(at: clock.monotonic())
      for (request, reply) in ended { request.completion(reply) }
      listener.told()
      noteEvidence(work.group, behind: began, spent: Thread.processorTime - spent)
      gather(behind: began)
    }
    finish()
    listener.told()
  }

  func noteEvidence(_ group: [Registry.Request], behind began: MonotonicTime, spent: Duration) {
    let steps = group.map(\.call.evidenceStep)
    guard steps.contains(where: { $0 != .none }) else { return }
    var judging = Duration.zero
    inbox.withLock { inbox, _ in swap(&judging, &inbox.judging) }
    evidencePace.rest(behind: began, spent: spent + judging, hasWritten: steps.contains(.brought))
  }

  private func takeBack(_ handle: RequestHandle) -> Bool {
    if waiters.cancel(handle) { return true }
    guard let index = ready.firstIndex(where: { $0.handle == handle }),
      ready[index].call.urgency != .revocation
    else { return false }
    ready.remove(at: index)
    return true
  }

  /// Where nothing was ever served.
  func close() { store.close() }

  // MARK: What is to be done

  private struct Work {
    var group: [Registry.Request] = []
    var cancelled: [RequestHandle] = []
    var refusals: [RefusalCode: Int] = [:]
    var settings: RegistrySettings?
    var isDraining: Bool
    /// The queue is empty after the group.
    var isLast = true
  }

  /// Nil when the registry is to stop and nothing is left to do.
  private func next() -> Work? {
    let isReading = doorReading != nil && outage == nil
    let (isDraining, isBusy) = (isDraining, !ready.isEmpty || copying != nil || isReading)
    let limit = Self.groupLimit - min(ready.count, Self.readyShare)
    let evidenceFrom = clock.monotonic() < evidencePace.from ? evidencePace.from : nil
    let moment = min(nextMoment(), evidenceFrom ?? .never)
    let found = inbox.wait(until: isBusy ? .distantPast : moment) { inbox -> Waited<Work?> in
      var work = Work(isDraining: inbox.isDraining)
      swap(&work.cancelled, &inbox.cancelled)
      swap(&work.settings, &inbox.settings)
      swap(&work.refusals, &inbox.refusals)
      work.group = inbox.take(limit, isEvidenceResting: evidenceFrom != nil)
      work.isLast = inbox.isEmpty
      let isNews =
        !work.group.isEmpty || !work.cancelled.isEmpty || work.settings != nil || !work.refusals.isEmpty
      if isNews || isBusy || work.isDraining != isDraining { return .done(work) }
      return inbox.isStopping ? .done(nil) : .wait
    }
    // It is over when the kernel says so, which goes by its own clock.
    if found == nil, moment == evidenceFrom { evidencePace.endRest() }
    guard var work = found ?? Work(isDraining: isDraining) else { return nil }
    let more = ready.prefix(Self.groupLimit - work.group.count)
    work.group += more
    ready.removeFirst(more.count)
    return work
  }

  /// When there is something to do without anybody asking.
  func nextMoment() -> MonotonicTime {
    // What is due by time waits for the store.
    if let outage { return min(waiters.nextDeadline, outage.nextTry) }
    let due = [dueAt, headDueAt, devices.refusals.due, erasure?.due, scrubbing?.due].compactMap { $0 }.map {
      time.moment(of: $0)
    }
    return due.reduce(waiters.nextDeadline, min)
  }
}

/// The names of what the registry keeps of itself.
enum StoreValue {
  static let server = "server_id"
  /// The highest time that was promised.
  static let time = "time"
  /// There since the audit's beginning was found without a row that names it; gone once there is one.
  static let unnamedBeginning = "audit_beginning_unnamed"
  /// When a copy was put in its place; gone once a gate has served with it.
  static let restored = "restored_at"
}

extension MonotonicTime {
  fileprivate static let distantPast = MonotonicTime(nanoseconds: 0)
}

extension UnixTime {
  /// The end of time where the sum lies beyond it.
  func adding(_ duration: Duration) -> UnixTime {
    let (sum, overflow) = milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
    return UnixTime(milliseconds: overflow ? .max : sum)
  }
}
