/// The families of docs/metrics.md about who comes, who plays, and what goes through.
internal import Admission
internal import Metrics
internal import PortcullisProtocol
internal import Synchronization
internal import System
internal import TelnetWire
package import Time

extension GateMetrics {
  // MARK: The process

  /// By the names that all exporters use.
  static let processRows = [
    process("cpu_seconds_total", .counter, "Total user and system CPU time spent in seconds.") {
      $0.cpuSeconds
    },
    process("resident_memory_bytes", .gauge, "Resident memory size in bytes.") { Double($0.residentBytes) },
    process("open_fds", .gauge, "Number of open file descriptors.") { Double($0.openDescriptors) },
    process("max_fds", .gauge, "Maximum number of open file descriptors.") { Double($0.mostDescriptors) },
    process("start_time_seconds", .gauge, "Start time of the process since unix epoch in seconds.") {
      $0.startedAt
    },
    gauge("build_info", "Always 1, with the version that runs.") { source, text in
      text.sample(MetricLabel("version", source.version), value: 1)
    },
  ]

  private static func process(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String,
    _ number: @escaping @Sendable (ProcessNumbers) -> Double
  ) -> Row {
    Row(family: MetricFamily("process_" + name, kind, help)) { source, text in
      let value = number(source.process)
      if let whole = Int(exactly: value) { text.sample(value: whole) } else { text.sample(value: value) }
    }
  }

  // MARK: At the door

  static let doorRows = [
    gauge("connections", "Connections by how far they have come, from accept to the last byte.") {
      source, text in
      for state in ConnectionState.allCases {
        text.sample(
          MetricLabel("state", state.word), value: source.sum { $0.connections[state.rawValue] })
      }
    },
    counter("tls_handshakes_total", "TLS handshakes that succeeded, by version and whether they resumed.") {
      source, text in
      let kinds: [(String, String, (Counters) -> Counter)] = [
        ("1.2", "false", { $0.fullHandshakes12 }), ("1.2", "true", { $0.resumedHandshakes12 }),
        ("1.3", "false", { $0.fullHandshakes13 }), ("1.3", "true", { $0.resumedHandshakes13 }),
      ]
      for (version, resumed, counter) in kinds {
        text.sample(
          MetricLabel("version", version), MetricLabel("resumed", resumed), value: source.sum(counter))
      }
    },
    counter("tls_handshake_failures_total", "Connections that ended before their TLS handshake was done.") {
      source, text in
      for failure in HandshakeFailure.allCases {
        text.sample(
          MetricLabel("reason", failure.word), value: source.sum { $0.handshakeFailures[failure.rawValue] })
      }
    },
    counter(
      "rate_limited_total",
      "Connections closed and requests refused because somebody had too much of something."
    ) { source, text in
      for limit in RateLimit.allCases {
        text.sample(
          MetricLabel("limit", limit.word), value: source.sum { $0.rateLimited[limit.rawValue] })
      }
    },
  ]

  // MARK: Requests

  static let requestRows = [
    counters(
      "admissions_total", "Upgrades to WebSocket by what came of them.", by: "result",
      ("admitted", { $0.value(.admitted) }), ("resumed", { $0.value(.resumed) }),
      ("refused", { $0.sum(\.admissionsRefused) }), ("left", { $0.sum(\.admissionsLeft) })),
    histogram("admission_duration_seconds", "From a judged upgrade to its 101, with disk and game.") {
      source, text in
      text.histogram(reading: source.readings { $0.admissionTimes })
    },
    counters(
      "registrations_total", "Registrations of App Attest keys by what came of them.", by: "result",
      ("registered", { $0.value(.registrations) }), ("refused", { $0.sum(\.registrationsRefused) }),
      ("left", { $0.sum(\.registrationsLeft) })),
    counter("refusals_total", "Requests that were refused, by the code in the answer.") { source, text in
      let all = source.numbers.counters.map(\.refusalsOfAllCodes)
      for (index, code) in RefusalCode.allCases.enumerated() {
        text.sample(MetricLabel("code", code.rawValue), value: all.reduce(0) { $0 + $1[index].count })
      }
    },
  ]

  // MARK: Sessions

  static let sessionRows = [
    gauge("sessions", "Sessions in the game, with a connection and without one, by what they were let in by.")
    { source, text in
      for (state, isAttached) in [("attached", true), ("detached", false)] {
        for (place, credential) in SessionCounts.credentials.enumerated() {
          text.sample(
            MetricLabel("state", state), MetricLabel("credential", credential),
            value: source.sum { $0.sessions.counter(isAttached: isAttached, credential: place) })
        }
      }
    },
    gauge("detached_sessions", .detached),
    gauge("kept_sessions", .kept),
    counters(
      "resumes_total", "Upgrades that named a session to go on with, by what came of them.", by: "result",
      ("resumed", { $0.value(.resumed) }), ("unknown", { $0.sum(\.resumesUnknown) }),
      ("late", { $0.sum(\.resumesLate) })),
    counter(
      "gap_messages_total", "Messages that apps were told they will never get.", of: { $0.gapMessages }),
    counters(
      "stalls_total", "Ends because one side took nothing for WRITE_STALL_TIMEOUT.", by: "side",
      ("player", { $0.sum(\.stallsOfPlayer) }), ("game", { $0.sum(\.stallsOfGame) })),
  ]

  // MARK: What goes through

  static let throughRows = [
    counters(
      "bytes_total", "Payload, as the game was sent it and has said it.", by: "direction",
      ("to_game", { $0.value(.bytesFromPlayers) }), ("from_game", { $0.value(.bytesFromGame) })),
    counters(
      "messages_total", "Data messages of WebSocket.", by: "direction",
      ("from_player", { $0.sum(\.messagesFromPlayers) }), ("to_player", { $0.sum(\.messagesToPlayers) })),
    gauge("queued_bytes", "Bytes that wait in the gate for a player or for the game.") { source in
      source.sum { $0.queued }
    },
    gauge("buffered_bytes", .buffered),
    counter("telnet_options_total", "Telnet options that games and the gate have agreed on.") {
      source, text in
      for (index, option) in TelnetOption.allCases.enumerated() {
        text.sample(MetricLabel("option", option.word), value: source.sum { $0.telnetOptions[index] })
      }
    },
    histogram("loop_lag_seconds", "How long a loop's turns took, which is how long others had to wait.") {
      source, text in
      for (index, counters) in source.numbers.counters.enumerated() {
        text.histogram(MetricLabel("loop", String(index)), reading: counters.lag.reading)
      }
    },
  ]
}

extension GateMetrics.Source {
  /// Over all loops.
  package func readings(_ histogram: (Counters) -> DurationHistogram) -> DurationReading {
    numbers.counters.reduce(into: DurationReading()) { $0.add(histogram($1).reading) }
  }
}

extension TelnetOption {
  /// As docs/telnet.md calls it.
  fileprivate var word: String {
    switch self {
    case .echo: "echo"
    case .suppressGoAhead: "suppress_go_ahead"
    case .terminalType: "terminal_type"
    case .endOfRecord: "end_of_record"
    case .windowSize: "window_size"
    case .newEnvironment: "new_environment"
    case .charset: "charset"
    case .msdp: "msdp"
    case .mssp: "mssp"
    case .compression: "compression"
    case .gmcp: "gmcp"
    }
  }
}
