/// What the overview and the drain show, all of it out of memory.
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
      now: now, startedAt: now - history.sinceStart, waiting: waiting, checks: healthChecks,
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
      history: Console.History(history, now: now) { [record = checks.record] in record.standing(ago: $0) })
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
  /// - Parameter standing: of the minute so long ago, where it is known.
  fileprivate init(
    _ reading: HistoryReading, now: UnixTime, standing: (_ ago: Int) -> Standing?
  ) {
    let count = reading.minutes.count
    self.init(
      points: reading.minutes.enumerated().map { index, minute in
        minute.map { Minute($0, standing(count - 1 - index) ?? .good) }
      },
      dayBefore: reading.dayBefore.map { $0.map { Minute($0, .good) } },
      end: now - reading.sinceLastBegan, starts: reading.starts.map { now - $0 },
      commonest: reading.commonest.map { commonest in
        Code(
          code: commonest.code,
          minutes: zip(reading.minutes, commonest.minutes).map { $0 == nil ? nil : $1 })
      })
  }
}

extension Console.History.Minute {
  fileprivate init(_ period: HistoryPeriod, _ standing: Standing) {
    self.init(
      players: period.mostPlayers, admissions: period.admissions, refusals: period.refusals,
      lagMicroseconds: period.lagMicroseconds,
      bytes: UInt64(clamping: period.bytesFromPlayers &+ period.bytesFromGame), standing: standing)
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
