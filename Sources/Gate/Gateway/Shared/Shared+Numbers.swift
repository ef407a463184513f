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
    // Loops wait for the locks of both.
    let (store, kept) = store.orders.ask { [store, storeClient] in (store.statistics, storeClient?.used ?? 0)
    }
    return Numbers(
      counters: counters, occupancy: occupancy, pending: pending, sessions: sessions, away: away,
      concluded: concluded, lingering: lingering, buffers: buffers, register: register, pool: pool,
      certificates: certificates, keptSessions: kept, keepingFailures: storeClient?.failures,
      store: store, registry: devices?.registry.numbers ?? RegistryNumbers())
  }

  var historyTotals: HistoryTotals { HistoryTotals(players: sessions.value, counters) }

  /// Not for loops.
  var storeStatistics: KeyStoreStatistics { store.orders.ask { [store] in store.statistics } }

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
