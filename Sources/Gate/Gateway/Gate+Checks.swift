/// What probes ask of the gate (docs/operating.md, "Admin listener").
internal import KeyStore
internal import Synchronization

extension Gate {
  /// Whether its doors are open: whoever comes is taken in, though perhaps only to be told that it drains.
  package var isListening: Bool { !shared.isRestarting.load(ordering: .relaxed) }
}

extension Shared {
  /// By a thread that may take the store's lock.
  func publishStoreStatistics() {
    let statistics = store.statistics
    storeStatistics.withLock { $0 = statistics }
  }
}
