/// Answers the control socket for the running gate (docs/running.md, "Control socket").
import Addresses
internal import Admission
import Bytes
package import Gateway
import HTTPWire
import JSON
import KeyStore
import PortcullisProtocol
import Prompt
package import Registry
package import Sockets
import Synchronization
internal import System
package import Time
internal import Telemetry

package final class GateControl: ControlHandler {
  private let gate: Gate
  /// Nil in a gate without devices.
  private let registry: RegistryControl?
  /// Nil in a gate without an admin listener.
  private let console = Mutex<AdminControl?>(nil)
  private let actions: OperatorActions
  private let clock: any Clock
  private let startedAt: MonotonicTime
  private let process: Int
  /// How long the key store has until a key is refused.
  private let patience: Duration
  private let draining = Atomic<Bool>(false)

  package init(
    gate: Gate, registry: RegistryControl? = nil, actions: OperatorActions, clock: any Clock, process: Int,
    patience: Duration = CommitResult.deadline
  ) {
    self.gate = gate
    self.actions = actions
    self.registry = registry
    self.clock = clock
    self.process = process
    self.patience = patience
    startedAt = clock.monotonic()
  }

  package var isDraining: Bool { draining.load(ordering: .relaxed) || gate.isDraining }

  /// From now on the gate's health is `draining`.
  package func beginDrain() {
    draining.store(true, ordering: .relaxed)
  }

  /// - Parameter peer: who asks at a socket; nil for the console, which says itself who has changed what.
  package func answer(_ request: ControlRequest, from peer: UnixPeer?) -> ControlAnswer {
    let answer = carryOut(request, from: peer)
    if let peer, let change = OperatorChange(request, answer) { tell(of: change, answer, by: peer) }
    return answer
  }

  private func tell(of change: OperatorChange, _ answer: ControlAnswer, by peer: UnixPeer) {
    actions.log(change.event.word, change.about, answer, by: peer)
    var members = change.members
    if case .refused(let refusal) = answer {
      // The audit also says what may have been done.
      guard refusal.isPerhapsDone else { return }
      members.append(.word("result", "perhaps"))
    }
    registry?.noteLater(
      NoteOperatorAction(change.event, members), change.event.word,
      by: .process(user: peer.user, process: peer.process))
  }

  private func carryOut(_ request: ControlRequest, from peer: UnixPeer?) -> ControlAnswer {
    switch request {
    case .health: .health(health)
    case .statistics: .statistics(statistics)
    case .refusals: .refusals(RefusalSummary.all(gate.latestRefusals))
    case .keysStatistics: .keysStatistics(StoreStatistics(gate.activity))
    case .keysRevoke(let keyID, let reason): revoke(keyID, reason)
    case .keysPrune(let seconds): prune(unusedSeconds: seconds)
    case .keysImport(let keys): take(keys)
    case .sessionsList: list()
    case .sessionsClose(let selection): close(selection)
    case .drain: drain()
    case .undrain: undrain()
    case .drainEnd: endAll()
    case .registry(let order): answer(order, from: peer)
    case .admin(let order): answer(order, from: peer)
    }
  }

  private var health: GateHealth {
    GateHealth(
      status: isDraining ? .draining : .ok, version: Version.text,
      process: process,
      uptimeSeconds: Int((clock.monotonic() - startedAt).components.seconds))
  }

  private var statistics: GateStatistics {
    let activity = gate.activity
    return GateStatistics(
      health: health, gauges: activity.counts(.now), counters: activity.counts(.sinceStart),
      refusals: activity.refusals.map { NamedCount($0.code.rawValue, $0.count) },
      turns: activity.turns.map(TurnStatistics.init), store: StoreStatistics(activity))
  }

  // MARK: Keys

  private func revoke(_ keyID: KeyIdentifier, _ reason: RevocationReason?) -> ControlAnswer {
    var unended: ControlRefusal?
    let revocation = gate.revoke(keyID, reason: reason, now: clock.wall(), within: patience) {
      // Whether the key store can be written or not: what the key vouched for is the other store's.
      unended = registry?.end(keyID)
    }
    switch revocation {
    case .unknownKey: return .refused(ControlRefusal(.unknownKey, "no key \(keyID.base64) is registered"))
    case .unconfirmed: return .refused(Self.unconfirmed([keyID]))
    case .unavailable: return .refused(ControlRefusal(.shuttingDown, "the key store is closing; try again"))
    case .revoked(let since, let outcome):
      let ended = outcome.sessionsEnded
      guard outcome.unmarked.isEmpty else { return .refused(Self.unconfirmed(outcome.unmarked)) }
      guard !outcome.unwritten.contains(keyID) else {
        return .refused(
          ControlRefusal(
            .storeUnavailable,
            "the key is refused from now on and \(ended) sessions have ended, but the store cannot be "
              + "written: a restart before it can might let the key in again"))
      }
      if let refusal = unended {
        return .refused(
          ControlRefusal(
            refusal.code,
            "the key is refused from now on and \(ended) sessions have ended, but not what it vouched for: "
              + refusal.message))
      }
      if outcome.isSilent { return Self.silentLoop }
      return .revoked(
        Revocation(
          revokedAt: since.timestamp, sessionsEnded: ended, sessionsLeft: outcome.sessionsLeft))
    }
  }

  // MARK: The console

  /// From now on orders about it are taken.
  package func open(_ console: AdminControl) {
    self.console.withLock { $0 = console }
  }

  private func answer(_ order: AdminOrder, from peer: UnixPeer?) -> ControlAnswer {
    guard let console = console.withLock({ $0 }) else {
      return .refused(
        ControlRefusal(.adminOff, "the running gate has no console: set ADMIN_LISTEN, and restart it"))
    }
    return console.answer(order, from: peer)
  }

  // MARK: Devices

  private func answer(_ order: RegistryOrder, from peer: UnixPeer?) -> ControlAnswer {
    guard let registry else { return Self.withoutDevices }
    return settled(order) { registry.answer($0, from: peer) }
  }

  /// An order of the console's.
  package func answer(_ order: RegistryOrder, by origin: Origin) -> ControlAnswer {
    guard let registry else { return Self.withoutDevices }
    return settled(order) { registry.answer($0, by: origin) }
  }

  /// What a page shows; nothing that changes anything.
  package func ask<Call: AnsweringCall>(
    _ call: Call, by origin: Origin
  ) -> Result<Call.Answer, ControlRefusal> {
    registry?.ask(call, by: origin) ?? .failure(Self.noDevices)
  }

  /// Tells the audit what an operator of the console has done; without devices there is none.
  /// - Returns: why it could not.
  package func note(_ action: NoteOperatorAction, by origin: Origin) -> ControlRefusal? {
    registry?.note(action, by: origin)
  }

  private func settled(
    _ order: RegistryOrder, _ answer: (RegistryOrder) -> ControlAnswer
  ) -> ControlAnswer {
    switch order.verb.ending {
    case .nothing: return answer(order)
    // The operator who revokes a device wants to know that it has left.
    case .devices: return settled { answer(order) }
    case .devicesFirst(let verb):
      // Its row is what a start knows its App Attest key by, and goes when the key store has that on its disk.
      let arguments = order.arguments.members.map { ($0.name, $0.value) }
      let ended = settled(and: "; nothing is forgotten before it can") {
        answer(RegistryOrder(verb, arguments))
      }
      if case .registry = ended { return answer(order) }
      return ended
    }
  }

  /// - Parameter more: what else follows where the key store cannot be written.
  private func settled(and more: String = "", _ order: () -> ControlAnswer) -> ControlAnswer {
    let (answer, outcome) = gate.revoking(order)
    if !outcome.unmarked.isEmpty { return .refused(Self.unconfirmed(outcome.unmarked, more)) }
    if outcome.isSilent { return Self.silentLoop }
    if outcome.unwritten.isEmpty { return answer }
    return .refused(
      ControlRefusal(
        .notWritten,
        "the device is refused from now on and its sessions have ended, but the key store cannot be written: a "
          + "restart before it can might let its App Attest key in again\(more)"))
  }

  /// The key store has been told, and has not said in time that these keys are refused.
  /// - Parameter more: what else follows.
  static func unconfirmed(_ keys: some Collection<KeyIdentifier>, _ more: String = "") -> ControlRefusal {
    let names = keys.map(\.base64).sorted().joined(separator: ", ")
    let look =
      keys.count == 1 ? "portcullis keys show \(names)" : "portcullis keys show, for each of \(names)"
    return ControlRefusal(
      .timeout,
      "not confirmed: the key store did not answer in time, and the revocation may still come true; look with: "
        + look + "; then revoke again\(more)")
  }

  private func prune(unusedSeconds seconds: Int64) -> ControlAnswer {
    guard
      let keys = gate.prune(unusedSince: UnixTime(milliseconds: clock.wall().milliseconds - seconds * 1000))
    else {
      return .refused(
        ControlRefusal(.storeUnavailable, "the store cannot be written; nothing more is pruned"))
    }
    return .pruned(keys: keys)
  }

  private func take(_ order: ForeignKeys) -> ControlAnswer {
    let verdict: ImportVerdict?
    do throws(KeysImportOrder.Unfit) {
      let fit = try KeysImportOrder(order, now: clock.wall())
      verdict = gate.adopt(fit.keys, fit.imported, appID: fit.appID)
    } catch {
      return .refused(ControlRefusal(.badRequest, error.description))
    }
    guard let verdict else {
      return .refused(
        ControlRefusal(.storeUnavailable, "the store cannot be written; import again when it can"))
    }
    return .imported(taken: verdict.taken, known: verdict.known, isFull: verdict.isFull)
  }

  // MARK: Sessions

  private func list() -> ControlAnswer {
    guard let sessions = gate.sessions() else { return Self.silentLoop }
    return .sessions(sessions.sorted { $0.duration > $1.duration }.map(SessionEntry.init))
  }

  private func close(_ selection: ControlRequest.SessionSelection) -> ControlAnswer {
    let closed = gate.closeSessions { session in
      switch selection {
      case .session(let number): session.number == number
      case .connection(let name): session.name == name
      case .key(let keyID): session.keyID == keyID
      }
    }
    guard let closed else { return Self.silentLoop }
    if closed.ended + closed.left == 0 {
      return .refused(
        ControlRefusal(.unknownSession, "there is no session \(selection.shown): sessions list shows all"))
    }
    return .sessionsClosed(ended: closed.ended, left: closed.left)
  }

  // MARK: Draining

  private func drain() -> ControlAnswer {
    guard gate.beginDraining() else { return Self.silentLoop }
    let (attached, detached) = gate.staying
    return .draining(sessions: attached, detached: detached)
  }

  private func undrain() -> ControlAnswer {
    let was = gate.isDraining
    guard gate.undrain() else {
      return .refused(
        ControlRefusal(
          .notAllowed, "the gate stops, or all sessions were ended for good: start it again to let players in"
        ))
    }
    return .undrained(wasDraining: was)
  }

  /// From here on until the gate is stopped it takes nobody in.
  private func endAll() -> ControlAnswer {
    beginDrain()
    switch gate.endAll(within: Self.drainTime) {
    case .done(let ended): return .drained(ended: ended)
    case .sessionsLeft(let count):
      return .refused(
        ControlRefusal(.timeout, "\(count) sessions have been told to end and had not; try again"))
    case .storeSilent:
      return .refused(
        ControlRefusal(
          .timeout,
          "all sessions have ended, but the process that keeps descriptors for the gate has not said that it released them"
        ))
    }
  }

  /// Below what the command waits.
  private static let drainTime: Duration = .seconds(15)

  private static let withoutDevices = ControlAnswer.refused(noDevices)
  private static let noDevices = ControlRefusal(
    .devicesOff, "the running gate has no devices: set DEVICES_PATH and PUBLIC_URL, and restart it")

  private static let silentLoop = ControlAnswer.refused(
    ControlRefusal(.timeout, "an event loop did not answer in time; try again"))
}

extension GateActivity {
  fileprivate func counts(_ group: OperatorNumber.Group) -> [NamedCount] {
    numbers.filter { $0.row.group == group }.map { NamedCount($0.row.name, $0.value) }
  }
}

extension StoreStatistics {
  fileprivate init(_ activity: GateActivity) {
    let statistics = activity.store
    var reason: String?
    let service: String
    switch statistics.service {
    case .accepting: service = "accepting"
    case .stalled(let error): (service, reason) = ("stalled", error.description)
    case .hanging(let time):
      (service, reason) = ("stalled", "the disk has not answered for \(time.wholeMilliseconds)ms")
    case .closed: service = "closed"
    }
    self.init(
      service: service, reason: reason, lastSnapshotAt: statistics.lastSnapshotAt?.timestamp,
      counts: activity.counts(.store))
  }
}

extension TurnStatistics {
  init(_ reading: TurnReading) {
    self.init(
      count: reading.count, median: reading.percentile(50), percentile99: reading.percentile(99),
      maximum: reading.maximum,
      buckets: reading.buckets.map { Bucket(microseconds: $0.microseconds, count: $0.count) })
  }
}

extension SessionEntry {
  init(_ session: SessionDescription) {
    self.init(
      session: Int(clamping: session.number), state: session.state.rawValue,
      since: Int(session.since.components.seconds), connection: session.name,
      subprotocol: session.subprotocol, isKept: session.isKept,
      buffered: session.bufferedBytes, source: session.peer.peerDescription, credential: session.credential,
      keyID: session.keyID?.base64, subject: session.subject,
      seconds: Int(session.duration.components.seconds),
      bytesFromPlayer: session.bytesFromPlayer, bytesFromGame: session.bytesFromGame)
  }
}
