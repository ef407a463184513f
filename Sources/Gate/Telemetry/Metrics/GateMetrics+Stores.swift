/// The families of docs/metrics.md about the game, what is kept, and whether all is well.
internal import KeyStore
internal import Metrics
internal import Registry
internal import System
internal import Time

extension GateMetrics {
  static let gameRows = [
    counters(
      "game_connects_total", "Calls to the game, one for each address that was tried.", by: "result",
      ("connected", { $0.sum(\.gameConnected) }), ("refused", { $0.sum(\.gameRefused) }),
      ("timed_out", { $0.sum(\.gameTimedOut) }), ("failed", { $0.sum(\.gameFailed) })),
    // The check calls the game where no player does. Without it nothing is known, and no series says so.
    gauge("game_up", "Whether the game can be reached, as the check game says.") { source, text in
      guard let check = source.checks.first(where: { $0.name == "game" }) else { return }
      text.sample(value: check.isOK ? 1 : 0)
    },
  ]

  // MARK: The key store

  static let storeRows = [
    gauge("keys", "App Attest keys in the store.") { source, text in
      let revoked = source.value(.revokedKeys)
      text.sample(MetricLabel("state", "active"), value: max(0, source.value(.keys) - revoked))
      text.sample(MetricLabel("state", "revoked"), value: revoked)
    },
    histogram("store_commit_duration_seconds", "How long a sync of the key store's journal took.") {
      source, text in
      text.histogram(reading: source.numbers.store.commitTimes)
    },
    gauge("store_journal_bytes", .journalBytes),
    histogram("snapshot_duration_seconds", "How long a snapshot of the key store took.") { source, text in
      text.histogram(reading: source.numbers.store.snapshotTimes)
    },
  ]

  // MARK: Devices

  static let deviceRows = [
    gauge("devices", "Devices in the registry.") { source, text in
      for (state, count) in zip(RegistryNumbers.deviceStates, source.numbers.registry.devices) {
        text.sample(MetricLabel("state", state.word), value: count)
      }
    },
    gauge("devices_store_bytes", "The size of the registry's store and its log.") { source, text in
      text.sample(value: Int(clamping: source.numbers.registry.bytes))
    },
    gauge("approvals", "Requests for approvals in the registry, those included that are over and still kept.")
    { source, text in
      for (state, count) in zip(RegistryNumbers.approvalStates, source.numbers.registry.approvals) {
        text.sample(MetricLabel("state", state.word), value: count)
      }
    },
    counter("approvals_decided_total", "Requests for approvals that came to an end, by which.") {
      source, text in
      for (state, count) in zip(RegistryNumbers.approvalStates, source.numbers.registry.approvalsDecided)
      where state != .pending {
        text.sample(MetricLabel("result", state.word), value: count)
      }
    },
    gauge(
      "codes", "Logins with a one-time code in the registry, those included that are over and still kept."
    ) { source, text in
      for (state, count) in zip(RegistryNumbers.codeStates, source.numbers.registry.codes) {
        text.sample(MetricLabel("state", state.word), value: count)
      }
    },
    counter("codes_ended_total", "Logins that waited for a one-time code, by what came of them.") {
      source, text in
      for (state, count) in zip(RegistryNumbers.codeStates, source.numbers.registry.codesEnded)
      where state != .open {
        text.sample(MetricLabel("result", state.word), value: count)
      }
    },
  ]

  // MARK: Whether all is well

  static let healthRows = [
    gauge(
      "certificate_expiry_timestamp_seconds",
      "When the first of the certificates in use ends, since unix epoch."
    ) { source, text in
      for (role, end) in source.numbers.certificates.ends {
        text.sample(MetricLabel("certificate", role.rawValue), value: Int(clamping: end.seconds))
      }
    },
    gauge("check_ok", "Whether a check of readiness is content, by its name.") { source, text in
      for check in source.checks {
        text.sample(MetricLabel("check", check.name), value: check.isOK ? 1 : 0)
      }
    },
  ]
}
