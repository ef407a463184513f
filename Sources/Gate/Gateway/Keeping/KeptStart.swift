/// What outlives the process, as this one finds it when it starts: the slots, the legs and the snapshot of the one before, or
/// new and empty ones (docs/restarts.md, "What a restart keeps").
///
/// Nothing is changed before loops are there to go on with it: a process that cannot start leaves all as it was.
internal import Admission
internal import Configuration
internal import Keeping
internal import Sockets
internal import System
internal import Telemetry
internal import Time
internal import Upstream

final class KeptStart {
  /// A leg in a dictionary, which cannot hold a socket itself.
  final class Leg {
    private var socket: Socket?

    init(_ socket: consuming Socket) {
      self.socket = consume socket
    }

    /// What the system calls it; nil once it is taken.
    var cookie: UInt64? {
      switch socket {
      case .some(let socket): socket.cookie
      case nil: nil
      }
    }

    /// As `Socket.bytesTaken`.
    var bytesTaken: UInt64? {
      switch socket {
      case .some(let socket): socket.bytesTaken
      case nil: nil
      }
    }

    func take() -> Socket? { socket.take() }

    /// The store has a duplicate: its game would not hear of a close.
    func end() {
      switch socket {
      case .some(let socket): socket.end()
      case nil: break
      }
      socket = nil
    }
  }

  let storeClient: DescriptorStoreClient
  let log: GateLogger
  /// By slot.
  private var legs: [Int: Leg] = [:]
  private let packed: HandoverReader?
  /// The slots are the process before's.
  private let isAdopted: Bool

  private init(
    _ storeClient: DescriptorStoreClient, legs: [Int: Leg], packed: consuming HandoverReader?,
    isAdopted: Bool, log: GateLogger
  ) {
    self.storeClient = storeClient
    self.legs = legs
    self.packed = packed
    self.isAdopted = isAdopted
    self.log = log
  }

  // MARK: Making

  /// To be called before the sandbox is raised, which forbids to make such memory. Nil where nothing is to be kept; what
  /// was kept stays in `stored` then.
  /// - Parameter room: for how many descriptors the store has place, beside those of listeners.
  static func make(
    _ configuration: GateConfiguration, _ stored: inout StoredDescriptors, _ store: any DescriptorKeeping,
    room: Int, log: GateLogger
  ) -> KeptStart? {
    let limit = min(configuration.sessions.mostKept, room - Self.ownDescriptors)
    guard configuration.sessions.canBeKept, limit > 0 else { return nil }
    var legs: [Int: Leg] = [:]
    for slot in stored.legs {
      if let descriptor = stored.takeLeg(slot) { legs[slot] = Leg(Socket(descriptor)) }
    }
    return make(stored.takeSlots(), stored.takeOver(), legs, store, limit: limit, log: log)
  }

  /// - Parameters:
  ///   - slots: of the process before, if there was one.
  ///   - over: its snapshot.
  ///   - legs: by slot.
  static func make(
    _ slots: consuming OwnedDescriptor?, _ over: consuming OwnedDescriptor?, _ legs: [Int: Leg],
    _ store: any DescriptorKeeping, limit: Int, log: GateLogger
  ) -> KeptStart? {
    do throws(SystemError) {
      var adopted: SlotFile?
      if let slots {
        do throws(SlotFileError) {
          adopted = try SlotFile.adopt(slots, limit: limit)
        } catch {
          log.slotsUnreadable(error.description)
          try store.remove(.slots)
        }
      }
      let isAdopted = adopted != nil
      if adopted == nil {
        let made = try SlotFile.create(limit: limit)
        try store.store(OwnedDescriptor.duplicate(made.descriptorNumber), as: .slots)
        adopted = made
      }
      guard let adopted else { return nil }
      let storeClient = DescriptorStoreClient(adopted, try Handover.create(), store, log: log)
      var packed: HandoverReader?
      if let over {
        do throws(SystemError) {
          packed = try HandoverReader(over)
        } catch {
          log.snapshotLost(error)
        }
      }
      return KeptStart(storeClient, legs: legs, packed: packed, isAdopted: isAdopted, log: log)
    } catch {
      log.keepingFailed(error)
      for (slot, leg) in legs {
        leg.end()
        try? store.remove(.leg(slot: slot))
      }
      return nil
    }
  }

  /// Slots and snapshot.
  private static let ownDescriptors = 2

  // MARK: Taking up

  /// Gives each session that goes on to a loop, none of which turns yet, and ends the others.
  func takeUp(_ shared: Shared, _ settings: LoopSettings, _ loops: [Loop]) {
    let taking = Restore(storeClient: storeClient, shared: shared, settings: settings)
    var (taken, ended) = (0, 0)
    if isAdopted {
      let plan = storeClient.slots.beginStart()
      for slot in storeClient.slots.used {
        // Whatever this process dies of while it reads it, that counts against it; and it is not read again then.
        storeClient.slots.willTakeUp(slot)
        defer { storeClient.slots.didTakeUp(slot) }
        let content = plan.dropped.contains(slot) ? nil : storeClient.slots.content(of: slot)
        if content == .free { continue }
        let leg = legs.removeValue(forKey: slot)
        do throws(Restore.Reason) {
          guard let content else { throw .deadly }
          let (kept, snapshot) = try pack(of: content, slot)
          let handover = try taking.handover(slot, kept, snapshot, leg, now: shared.clock.monotonic())
          shared.takenUp.add()
          loops[taken % loops.count].takeUp(handover)
          taken += 1
        } catch {
          leg?.end()
          storeClient.discard(slot)
          if error == .over { continue }
          ended += 1
          log.sessionDropped(slot: slot, reason: error.word, detail: error.detail)
        }
      }
    }
    // Those of no slot.
    for (slot, leg) in legs {
      leg.end()
      storeClient.forget(slot)
    }
    legs = [:]
    if isAdopted { log.sessionsTakenUp(taken, ended: ended) }
  }

  private func pack(
    of content: SlotContent, _ slot: Int
  ) throws(Restore.Reason) -> (KeptSession, RestartSnapshot?) {
    switch content {
    case .free, .ending: throw .over
    case .unreadable(let error): throw .unreadable(error)
    case .kept(let session): return (session, nil)
    case .handedOver(let session):
      switch packed {
      case .some(let packed): return (session, packed.snapshot(of: slot, sequence: session.sequence))
      case nil: return (session, nil)
      }
    }
  }

  /// From here on this process's snapshot takes the place of the one before's, of which nothing is left to be read.
  func begin() throws(SystemError) {
    // What does not go on is gone before anybody is served.
    storeClient.carryOutWaiting()
    do throws(SystemError) {
      try storeClient.store.remove(.over)
      try storeClient.store.store(
        OwnedDescriptor.duplicate(storeClient.snapshots.descriptorNumber), as: .over)
    } catch {
      // Players come first: without snapshot sessions go on as after a crash.
      log.keepingFailed(error)
    }
    try storeClient.start()
  }
}
