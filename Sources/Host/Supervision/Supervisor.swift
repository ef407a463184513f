/// A small parent that keeps the gate's descriptors where no service manager does, and starts it anew
/// (docs/restarts.md, "Restarts and upgrades").
///
/// Each turn: 1. wait for a signal, a notice, or the time of the next start; 2. notices are heard; 3. signals are obeyed,
/// with what a gate that has ended said before it was heard first.
internal import Glibc
package import System
internal import Time

package struct Supervisor: ~Copyable {
  package struct Settings: Sendable {
    /// Executed as it is whenever a gate is started.
    package var program: String
    package var arguments: [String]
    /// The supervisor's own.
    package var environment: [(String, String)]
    /// How many descriptors it keeps.
    package var capacity: Int

    package init(
      program: String, arguments: [String], environment: [(String, String)], capacity: Int
    ) {
      self.program = program
      self.arguments = arguments
      self.environment = environment
      self.capacity = capacity
    }
  }

  private let settings: Settings
  private let signals: SupervisorSignals
  private let inbox: NoticeInbox
  private let closer: DescriptorCloser
  private let manager: ServiceManager?
  private let report: (String) -> Void
  private var kept: KeptDescriptors
  private var state: SupervisionState
  private var gate: ChildProcess?
  /// Of the gate that runs, so that one that says nonsense for ever is mentioned once.
  private var hasRefused = false

  /// Notices that are heard in one turn at most: whoever sends without end does not keep a signal from being heard. More than
  /// a socket's queue holds, so that all of them are heard that a gate sent before it ended.
  private static let noticesPerTurn = 1024

  /// Before there are other threads.
  /// - Parameter report: takes lines for the operator.
  package static func make(
    _ settings: Settings, report: @escaping (String) -> Void
  ) throws(SystemError) -> Supervisor {
    // Descriptors that the parent left open are not the gate's.
    OwnedDescriptor.closeAll(from: 3)
    let signals = try SupervisorSignals()
    let inbox = try NoticeInbox()
    let closer = try DescriptorCloser()
    var manager: ServiceManager?
    do throws(ServiceManagerError) {
      manager = try .asking(in: settings.environment)
    } catch {
      report("\(error): nobody is told how the gate is")
    }
    return Supervisor(settings, signals, inbox, closer, manager, report)
  }

  private init(
    _ settings: Settings, _ signals: consuming SupervisorSignals, _ inbox: consuming NoticeInbox,
    _ closer: DescriptorCloser, _ manager: ServiceManager?, _ report: @escaping (String) -> Void
  ) {
    self.settings = settings
    self.signals = signals
    self.inbox = inbox
    self.closer = closer
    self.manager = manager
    self.report = report
    kept = KeptDescriptors(capacity: settings.capacity, closer: closer)
    state = SupervisionState(now: SystemClock().monotonic())
  }

  private var now: MonotonicTime { SystemClock().monotonic() }

  /// Until the gate has ended for good.
  /// - Returns: the exit status.
  package mutating func run() -> Int32 {
    while true {
      if let status = perform(state.timePassed(now: now)) { return status }
      wait()
      hear()
      while let signal = signals.next() {
        switch signal {
        case .order(let order):
          if let status = perform(state.ordered(order, now: now)) { return status }
        case .childEnded:
          // As long as it has not been reaped, its number is nobody else's.
          hear()
          if let status = reap() { return status }
        }
      }
    }
  }

  private mutating func wait() {
    var waited = [signals.number, inbox.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let watched = kept.entries.filter(\.isWatched)
    // An end and an error are reported unasked.
    waited += watched.map { pollfd(fd: $0.number, events: 0, revents: 0) }
    let left = state.deadline.map { Int32(clamping: ($0 - now).wholeMilliseconds + 1) } ?? -1
    guard unsafe poll(&waited, nfds_t(waited.count), left) > 0 else { return }
    for (entry, state) in zip(watched, waited.dropFirst(2)) where state.revents != 0 { kept.drop(entry) }
  }

  // MARK: Notices

  private mutating func hear() {
    for _ in 0..<Self.noticesPerTurn {
      guard let waiting = inbox.peek() else { return }
      if waiting.process == gate?.number {
        if let received = inbox.next() { hear(received) }
      } else {
        drop(waiting.hasDescriptors)
      }
    }
  }

  /// Everybody in the network namespace can send something. Only the gate is heard.
  private func drop(_ hasDescriptors: Bool) {
    guard hasDescriptors else { return inbox.drop() }
    do throws(SystemError) {
      try inbox.dropStrangers(to: gate?.number)
    } catch {
      // Without a thread for them it may take a while, as they like it.
      inbox.drop()
    }
  }

  private mutating func hear(_ received: consuming ReceivedNotice) {
    guard let gate, received.process == gate.number else {
      while let stray = received.takeDescriptor() { closer.close(stray) }
      return
    }
    let notice = SupervisedNotice(received.text)
    guard received.isWhole else {
      // Its descriptor was lost, where there is no room for one more.
      if notice.stores { kept.refuse(notice.name) }
      while let stray = received.takeDescriptor() { closer.close(stray) }
      return
    }
    if notice.removes { kept.remove(notice.name) }
    if notice.stores, let descriptor = received.takeDescriptor() {
      do throws(KeptDescriptors.Refusal) {
        try kept.keep(descriptor, notice.name, isWatched: notice.isWatched)
      } catch {
        if !hasRefused { report("a descriptor of the gate (\(gate.number)) cannot be kept: \(error)") }
        hasRefused = true
      }
    }
    if notice.isBarrier, let barrier = received.takeDescriptor() { kept.meet(barrier) }
    while let rest = received.takeDescriptor() { closer.close(rest) }
    passOn(notice.passedOn + (state.isEnding ? notice.passedOnAtEnd : []))
  }

  private func passOn(_ lines: [String]) {
    if lines.isEmpty { return }
    // A manager that is gone is not worth more than the gate.
    try? manager?.pass(lines)
  }

  // MARK: The gate

  private mutating func reap() -> Int32? {
    while let (process, ending) = ChildProcess.reap() {
      // Orphans come to whoever is the first process of a container.
      guard process == gate else { continue }
      gate = nil
      kept.forgetRefusals()
      let status = perform(state.ended(ending, now: now))
      if let deadline = state.deadline {
        let tenths = ((deadline - now).wholeMilliseconds + 50) / 100
        report(
          "the gate (\(process.number)) \(ending); it is started again in \(tenths / 10).\(tenths % 10) s")
      }
      if let status { return status }
    }
    return nil
  }

  private mutating func perform(_ action: SupervisionAction) -> Int32? {
    switch action {
    case .none: return nil
    case .end(let status): return status
    case .signal(let signal):
      gate?.send(signal.number)
      return nil
    case .start:
      do throws(SystemError) {
        gate = try ChildProcess.start(program())
        hasRefused = false
        state.started(now: now)
        return nil
      } catch {
        report("cannot start: \(error)")
        return perform(state.startFailed(now: now))
      }
    }
  }

  private func program() -> ChildProcess.Program {
    ChildProcess.Program(
      path: settings.program, arguments: settings.arguments,
      environment: GateEnvironment.of(
        settings.environment, supervisor: getpid(), inbox: inbox.name, capacity: settings.capacity),
      descriptors: kept.entries.map { ($0.number, $0.name) })
  }
}

extension SupervisionSignal {
  fileprivate var number: Int32 {
    switch self {
    case .terminate: SIGTERM
    case .interrupt: SIGINT
    case .hangup: SIGHUP
    case .kill: SIGKILL
    }
  }
}
