/// The gate's numbers for a person at a terminal: in groups, with their units and what they count.
internal import Bytes
internal import Gateway
package import Prompt
internal import System
internal import Telemetry
package import Time

extension GateStatistics {
  /// - Parameter window: how wide the terminal is; nil where nothing is to be cut.
  package func lines(now: UnixTime, in window: Int?, _ paint: Paint) -> [String] {
    let groups = [
      ("Gate", [gate]), ("Now", numbers(gauges, .now)), ("Since the start", numbers(counters, .sinceStart)),
      ("Refusals since the start", refusals.map { [.init($0.name), .init(Wording.count($0.count))] }),
      ("Key store", storeRows(now) + numbers(store.counts, .store)),
    ]
    var lines: [String] = []
    for (heading, rows) in groups where !rows.isEmpty {
      lines += (lines.isEmpty ? [] : [""]) + [paint(heading, .bold)]
      var table = TextTable(
        [.init(""), .init("", isNumber: heading != "Gate"), .init("", canBeCut: true)], hasHeading: false)
      for row in rows { table.add(row) }
      lines += table.take(in: window.map { $0 - 2 }, paint).map { "  " + $0 }
    }
    return lines + [""] + loops(window, paint)
  }

  private var gate: [TextTable.Cell] {
    let isWell = health.status == .ok
    return [
      .init(health.status.rawValue, isWell ? .good : .doubtful), .init("version \(health.version)"),
      .init("up \(Wording.duration(seconds: Int64(health.uptimeSeconds))), process \(health.process)"),
    ]
  }

  private func numbers(_ counts: [NamedCount], _ group: OperatorNumber.Group) -> [[TextTable.Cell]] {
    counts.map { count in
      let row = OperatorNumber.all.first { $0.group == group && $0.name == count.name }
      let value =
        switch row?.unit {
        case .bytes: Wording.bytes(UInt64(clamping: count.count))
        case .milliseconds: "\(Wording.count(count.count)) ms"
        case .count, nil: Wording.count(count.count)
        }
      return [.init(count.name), .init(value), .init(row?.help ?? "", .dim)]
    }
  }

  private func storeRows(_ now: UnixTime) -> [[TextTable.Cell]] {
    let reason = store.reason.map { PrintableText.field($0, limit: 256) } ?? ""
    let state: TextTable.Cell = .init(store.service, store.service == "accepting" ? .good : .bad)
    let snapshot = store.lastSnapshotAt.flatMap { UnixTime(timestamp: $0) }.map {
      [TextTable.Cell("lastSnapshotAt"), .init(Wording.relative($0, to: now)), .init("")]
    }
    return [[.init("service"), state, .init(reason)]] + (snapshot.map { [$0] } ?? [])
  }

  /// A turn's length is what others had to wait.
  private func loops(_ window: Int?, _ paint: Paint) -> [String] {
    var table = TextTable([
      .init("LOOP", isNumber: true), .init("TURNS", isNumber: true), .init("HALF BELOW", isNumber: true),
      .init("99 OF 100 BELOW", isNumber: true), .init("LONGEST", isNumber: true),
    ])
    for (index, loop) in turns.enumerated() {
      table.add([
        .init("\(index)"), .init(Wording.count(loop.count)), .init(Wording.microseconds(loop.median)),
        .init(Wording.microseconds(loop.percentile99)), .init(Wording.microseconds(loop.maximum)),
      ])
    }
    return [paint("Event loops, by how long a turn takes", .bold)]
      + table.take(in: window.map { $0 - 2 }, paint).map { "  " + $0 }
  }
}
