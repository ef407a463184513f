/// What the overview, the refusals and the drain show, all of it out of memory.
import Addresses
import Admin
import Assembly
import Bytes
import Configuration
import Gateway
import KeyStore
import Metrics
import PortcullisProtocol
internal import System
import Time
internal import Telemetry

extension ConsolePages {
  var staying: Int {
    let staying = gate.staying
    return staying.attached + staying.away
  }

  // MARK: Overview

  var overview: OverviewPage {
    let (now, history, staying) = (now, gate.history, gate.staying)
    return OverviewPage(
      now: now, startedAt: now - history.sinceStart, checks: healthChecks,
      players: Players(
        attached: staying.attached, detached: staying.away, connections: gate.connectionCount,
        maximumConnections: sources.settings.configuration.limits.connections),
      lastHour: Period(history.lastHour), lastDay: Period(history.lastDay),
      refusals: history.refusals.map {
        RefusalCount(code: $0.code, lastHour: $0.lastHour, lastDay: $0.lastDay)
      },
      loops: loops(history), store: StoreState(gate.storeStatistics),
      certificates: gate.certificates.map { certificate in
        CertificateEnd(
          name: (certificate.role == "server" ? "" : "client CA ") + certificate.subject,
          endsAt: certificate.notAfter)
      },
      history: Console.History(history, now: now))
  }

  private var healthChecks: [HealthCheck] {
    checks.current.checks.map { check in
      let standing: Standing =
        switch check.state {
        case .ok: .good
        case .degraded: .doubtful
        case .failed: .bad
        }
      return HealthCheck(name: check.name, standing: standing, detail: check.detail)
    }
  }

  private func loops(_ history: HistoryReading) -> [LoopLag] {
    let sessions = gate.sessionsByLoop
    return history.turns.enumerated().map { index, turns in
      LoopLag(
        loop: index, sessions: sessions[index], medianMicroseconds: turns.percentile(50),
        percentile99Microseconds: turns.percentile(99), maximumMicroseconds: turns.maximum)
    }
  }

  // MARK: Refusals

  func refusals(_ query: AdminForm) -> RefusalsPage {
    let filter = RefusalsPage.Filter(
      code: query["code"].flatMap { RefusalCode(rawValue: $0) }, step: query["step"] ?? "")
    let all = gate.latestRefusals
    let found = all.filter { entry in
      (filter.code == nil || entry.code == filter.code)
        && (filter.step.isEmpty || entry.step.utf8.elementsEqual(filter.step.utf8))
    }
    let after = query["after"].flatMap { Int($0) }
    let rest = found.drop { entry in after.map { entry.number >= $0 } ?? false }
    let rows = rest.prefix(ListEnd.rowsPerPage)
    let next = rest.count > rows.count ? rows.last.map { "\($0.number)" } : nil
    return RefusalsPage(
      filter: filter, groups: Self.groups(all), rows: rows.map(RefusalRow.init),
      end: ListEnd(next: next, isFirst: after == nil, total: found.count))
  }

  private static func groups(_ entries: [RefusalEntry]) -> [RefusalGroup] {
    struct Kind: Hashable {
      let code: RefusalCode
      let step: String
    }
    var groups: [Kind: RefusalGroup] = [:]
    // The latest first.
    for entry in entries {
      let kind = Kind(code: entry.code, step: entry.step)
      if groups[kind] == nil {
        groups[kind] = RefusalGroup(code: entry.code, step: entry.step, count: 0, lastAt: entry.at)
      }
      groups[kind]?.count += 1
    }
    return groups.values.sorted { one, other in
      one.count != other.count ? one.count > other.count : one.lastAt > other.lastAt
    }
  }

  // MARK: Drain

  func drainPage(_ problems: [FieldProblem] = []) -> DrainPage {
    let staying = gate.staying
    return DrainPage(
      isDraining: gate.isDraining, isFinal: gate.isStopping, attached: staying.attached,
      detached: staying.away, kept: gate.keptCount, problems: problems)
  }
}

extension UnixTime {
  static func - (time: UnixTime, duration: Duration) -> UnixTime {
    UnixTime(milliseconds: time.milliseconds - duration.wholeMilliseconds)
  }
}

extension Period {
  fileprivate init(_ period: HistoryPeriod) {
    self.init(
      admissions: period.admissions, registrations: period.registrations, refusals: period.refusals,
      mostPlayers: period.mostPlayers, bytesFromPlayers: UInt64(clamping: period.bytesFromPlayers),
      bytesFromGame: UInt64(clamping: period.bytesFromGame))
  }
}

extension Console.History {
  fileprivate init(_ reading: HistoryReading, now: UnixTime) {
    self.init(
      points: reading.minutes.map { minute in
        minute.map {
          Minute(
            players: $0.mostPlayers, admissions: $0.admissions, refusals: $0.refusals,
            lagMicroseconds: $0.lagMicroseconds,
            bytes: UInt64(clamping: $0.bytesFromPlayers &+ $0.bytesFromGame))
        }
      },
      end: now - reading.sinceLastBegan, starts: reading.starts.map { now - $0 })
  }
}

extension Console.StoreState {
  fileprivate init(_ statistics: KeyStoreStatistics) {
    let service: Service
    var reason: String?
    switch statistics.service {
    case .accepting: service = .accepting
    case .stalled(let error): (service, reason) = (.stalled, error.description)
    case .hanging(let time):
      (service, reason) = (.stalled, "the disk has not answered for \(time.wholeMilliseconds) ms")
    case .closed: service = .closed
    }
    let commits = statistics.commitTimes
    self.init(
      service: service, reason: reason, keys: statistics.keys, revokedKeys: statistics.revokedKeys,
      journalBytes: UInt64(clamping: statistics.journalBytes),
      commitMicroseconds: commits.count > 0
        ? Int(clamping: commits.nanoseconds / UInt64(clamping: commits.count) / 1000) : nil,
      lastSnapshotAt: statistics.lastSnapshotAt)
  }
}

extension RefusalRow {
  fileprivate init(_ entry: RefusalEntry) {
    self.init(
      at: entry.at, code: entry.code, step: entry.step, source: entry.source.peerDescription,
      path: entry.asked ?? entry.trace.map { "trace \($0)" }, keyID: entry.keyID?.base64,
      connection: entry.connection)
  }
}
