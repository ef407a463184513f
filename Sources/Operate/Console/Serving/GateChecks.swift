/// Whether the gate lives and can serve, for `/livez` and `/readyz` (docs/console.md, "Admin listener").
///
/// A thread looks once a second, and waits for nothing; probes find what it saw. It is no thread behind the loops, as it
/// takes locks that loops wait for. What may take its time, the disk and a call to the game, has executors of its own. Neither
/// waits for the other.
import Admin
import Assembly
import Configuration
import Gateway
import KeyStore
internal import Scheduling
import Synchronization
import System
import Time

final class GateChecks: Sendable {
  /// A turn takes milliseconds; a loop that does not answer for so long will not.
  static let silence = Readiness.Check.silence
  static let interval: Duration = .seconds(1)
  /// Between two looks at the disk.
  static let diskInterval: Duration = .milliseconds(2500)

  private let gate: Gate
  /// Nil in a gate without devices.
  let waiting: WaitingWatch?
  private let devices: Gateway.Devices?
  /// In which the gate writes.
  private let folders: [String]
  private let isDraining: @Sendable () -> Bool
  /// Their own: an operator's work that takes long is no disk that does not answer, and a disk is nothing to wait for.
  private let (looks, calls) = (Executor(name: "admin-looks"), Executor(name: "admin-calls"))
  private let clock: any Clock
  private let seen: Mutex<Seen>
  private let records = Mutex(StandingRecord())
  private let bell = Signal()
  private let isStopping = Atomic(false)
  private let thread = Mutex<JoinHandle?>(nil)

  private struct Seen {
    var needs: GateConfiguration.ReadyNeeds
    var at = MonotonicTime(nanoseconds: 0)
    var listening = Gate.Listening.open
    /// By their indices.
    var silentLoops: [Int] = []
    var store = KeyStoreStatistics()
    var connects = GameWatch.Connects(failedAt: nil, sessions: 0)
    var game = GameWatch()
    var certificates: String?
    /// Nil when it cannot be told.
    var space: [DiskSpace]?
    var spaceAt = MonotonicTime(nanoseconds: 0)
    /// Such work is under way, and no more is sent until it is done.
    var isLooking = false
    var isCalling = false
  }

  init(
    gate: Gate, devices: Gateway.Devices?, _ configuration: GateConfiguration,
    isDraining: @escaping @Sendable () -> Bool,
    clock: any Clock
  ) {
    self.gate = gate
    self.devices = devices
    waiting = devices.map { WaitingWatch($0.registry) }
    folders = Self.folders(configuration)
    self.isDraining = isDraining
    self.clock = clock
    seen = Mutex(Seen(needs: configuration.admin.readyNeeds))
  }

  private static func folders(_ configuration: GateConfiguration) -> [String] {
    let paths = [configuration.store.path] + [configuration.devices.path].compactMap(\.self)
    return Set(paths.map(FileNeeds.folder)).sorted()
  }

  // MARK: Life

  /// To be called once; what it sees first is there when it returns.
  func begin() throws(SystemError) {
    var question = LoopQuestion()
    seen.withLock { $0.spaceAt = clock.monotonic() }
    look(&question)
    try looks.begin()
    try calls.begin()
    let handle = JoinHandle(
      try Thread(name: "admin-checks") { [self] in
        var question = LoopQuestion()
        while !isStopping.load(ordering: .relaxed) {
          look(&question)
          bell.wait(until: clock.monotonic() + Self.interval)
        }
      })
    thread.withLock { $0 = handle }
  }

  /// All work is done when this returns.
  func stop() {
    isStopping.store(true, ordering: .relaxed)
    bell.ring()
    thread.withLock { $0.take() }?.join()
    looks.stop()
    calls.stop()
  }

  func reload(_ configuration: GateConfiguration) {
    seen.withLock { $0.needs = configuration.admin.readyNeeds }
  }

  // MARK: Looking

  /// What the loops were asked last.
  private struct LoopQuestion {
    var asked: LoopAcknowledgement?
    var at = MonotonicTime(nanoseconds: 0)
  }

  private func look(_ question: inout LoopQuestion) {
    let now = clock.monotonic()
    let silent = silentLoops(&question, now: now)
    let store = gate.storeStatistics
    let connects = GameWatch.Connects(failedAt: gate.gameFailedAt, sessions: gate.sessionCount)
    let listening = gate.listening(now: now)
    let certificates = gate.certificateTrouble(now: clock.wall())
    let (looksAtDisk, callsGame) = seen.withLock { seen in
      seen.at = now
      seen.silentLoops = silent
      seen.store = store
      seen.connects = connects
      seen.listening = listening
      seen.certificates = certificates
      let isCallDue = seen.game.look(connects, isNeeded: seen.needs == .game, now: now)
      let isDiskDue = seen.space == nil || now - seen.spaceAt >= Self.diskInterval
      let due = (disk: isDiskDue && !seen.isLooking, game: isCallDue && !seen.isCalling)
      if due.disk { seen.isLooking = true }
      if due.game { seen.isCalling = true }
      return due
    }
    waiting?.look()
    let standing = standing
    records.withLock { $0.note(standing, at: now) }
    if looksAtDisk { lookAtDisk() }
    if callsGame { callGame() }
  }

  private func silentLoops(_ question: inout LoopQuestion, now: MonotonicTime) -> [Int] {
    if let asked = question.asked, !asked.isComplete {
      return now - question.at >= Self.silence ? asked.silentLoops : []
    }
    question.asked = gate.askLoops()
    question.at = now
    return []
  }

  private func lookAtDisk() {
    looks.send { [self] in
      let space = folders.compactMap { try? DiskSpace.of($0) }
      seen.withLock { seen in
        seen.space = space.count == folders.count ? space : nil
        seen.spaceAt = clock.monotonic()
        seen.isLooking = false
      }
    }
  }

  private func callGame() {
    calls.send { [self] in
      let failure = gate.callGame(within: GameWatch.patience)
      seen.withLock { seen in
        seen.game.note(call: failure, at: clock.monotonic())
        seen.isCalling = false
      }
    }
  }

  // MARK: Telling

  var record: StandingRecord { records.withLock { $0 } }

  /// A drain is what somebody wants: nothing is broken.
  private var standing: Standing {
    let checks = current.checks
    if checks.contains(where: { $0.state == .failed && $0.name != "draining" }) { return .bad }
    return checks.contains { $0.state != .ok } ? .doubtful : .good
  }

  var isAlive: Bool {
    let (silent, at) = seen.withLock { ($0.silentLoops, $0.at) }
    return silent.isEmpty && Readiness.Check.isRecent(clock.monotonic() - at)
  }

  /// Each of `Readiness.Check.names`, but that of a registry which there is not.
  var current: Readiness {
    let (seen, now) = (seen.withLock { $0 }, clock.monotonic())
    var checks = [listening(seen), draining, loops(seen), keyStore(seen)]
    if let devices {
      let trouble = devices.admitted.registryTrouble
      checks.append(.init("registry", trouble == nil ? .ok : .failed, detail: trouble))
    }
    return Readiness(
      checks: checks + [
        .game(
          seen.game.standing(seen.connects), lateness: seen.game.lateness(now: now),
          isNeeded: seen.needs == .game),
        .certificate(seen.certificates), .disk(seen.space, age: now - seen.spaceAt),
      ])
  }

  private func listening(_ seen: Seen) -> Readiness.Check {
    switch seen.listening {
    case .open: .init("listening", .ok)
    case .closed: .init("listening", .failed, detail: "who comes waits for the next process")
    case .exhausted: .init("listening", .failed, detail: "no descriptor or memory is left to accept with")
    }
  }

  private var draining: Readiness.Check {
    isDraining() ? .init("draining", .failed, detail: "no new session is let in") : .init("draining", .ok)
  }

  private func loops(_ seen: Seen) -> Readiness.Check {
    .loops(silent: seen.silentLoops, age: clock.monotonic() - seen.at)
  }

  private func keyStore(_ seen: Seen) -> Readiness.Check {
    switch seen.store.service {
    case .accepting: .init("key_store", .ok)
    case .stalled(let error): .init("key_store", .failed, detail: "it cannot be written: \(error)")
    case .hanging(let time):
      .init("key_store", .failed, detail: "the disk has not answered for \(time.components.seconds) s")
    case .closed: .init("key_store", .failed, detail: "it is closed")
    }
  }
}
