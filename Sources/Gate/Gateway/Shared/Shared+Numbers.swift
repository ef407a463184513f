/// The running gate as its numbers, its history and the operator's list of refusals are made of it.
internal import Admission
internal import DeviceWire
internal import KeyStore
internal import Registry
internal import Requests
internal import Scheduling
internal import Synchronization
internal import System
internal import Telemetry
internal import Time
internal import Upstream

extension Shared {
  /// What may be read now; counts are read when they are asked for.
  var numbers: Numbers {
    Numbers(
      counters: counters, occupancy: occupancy, pending: pending, sessions: sessions, away: away,
      concluded: concluded, lingering: lingering, buffers: buffers, register: register, pool: pool,
      certificates: certificates, keptSessions: currentKeptSessions, keepingFailures: storeClient?.failures,
      store: currentStoreStatistics, registry: devices?.registry.numbers ?? RegistryNumbers())
  }

  var historyTotals: HistoryTotals { HistoryTotals(players: sessions.value, counters) }

  /// By a thread that may take the store's lock.
  func publishStoreStatistics() {
    let statistics = store.statistics
    storeStatistics.withLock { $0 = statistics }
    keptSessions.store(storeClient?.used ?? 0, ordering: .relaxed)
  }

  /// Of this moment, and on threads behind the loops, which may not take a lock that loops wait for, of some seconds ago.
  var currentStoreStatistics: KeyStoreStatistics {
    Thread.niceness == 0 ? store.statistics : storeStatistics.withLock { $0 }
  }

  /// In the same way.
  private var currentKeptSessions: Int {
    Thread.niceness == 0 ? storeClient?.used ?? 0 : keptSessions.load(ordering: .relaxed)
  }

  /// For the operator's page; counting and the log are others' business.
  func remember(_ refusal: Refusal, of connection: Connection) {
    let (at, peer) = (clock.wall(), connection.peerName)
    var asked: String?
    var deviceID: DeviceID?
    if case .exchange(let exchange) = connection.stage {
      deviceID = exchange.namedDevice
      switch exchange.asked {
      case .upgrade: asked = "upgrade"
      case .registration: asked = "registration"
      case nil: break
      }
    }
    refusals.note { number in
      RefusalEntry(
        number: number, at: at, code: refusal.code, step: refusal.step, keyID: refusal.keyID,
        deviceID: deviceID, asked: asked, peer: peer)
    }
  }
}

extension GateMetrics {
  package convenience init(_ gate: Gate, version: String) {
    self.init(gate.shared, version: version)
  }

  convenience init(_ shared: Shared, version: String) {
    self.init(version: version) { shared.numbers }
  }
}
