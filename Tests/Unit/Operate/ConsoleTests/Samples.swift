/// Every page with invented models: empty, full, with problems, and with each text that somebody else writes replaced.
@testable import Console
import PortcullisProtocol
import System
import Time

/// Not a test: also what `every page looks like` is looked at with.
struct Samples {
  static let now = UnixTime(milliseconds: 1_795_395_833_123)

  /// Rows of lists.
  var rows = ListEnd.rowsPerPage
  var hasProblems = false
  /// What is put in place of each text that is not the program's own.
  var word: @Sendable (String) -> String = { $0 }

  static let empty = Samples(rows: 0)
  static let full = Samples()
  static let wrong = Samples(rows: 3, hasProblems: true)

  static func ago(_ seconds: Int) -> UnixTime {
    UnixTime(milliseconds: now.milliseconds - Int64(seconds) * 1000)
  }

  var frame: PageFrame {
    PageFrame(
      gate: word("gate1.example.com"), version: "0.2.0", actor: word("alice"), formToken: word("3fT0kEn"),
      mayChange: true, hasDevices: true, isDraining: hasProblems, waiting: waiting,
      search: rows == 0 ? "" : word("anna"), now: Self.now)
  }

  var pages: [(name: String, page: any ConsolePage)] {
    [
      ("overview", overview), ("hours", HoursPage(history: history)), ("sessions", sessions),
      ("session", SessionPage(session: session(0))),
      ("session-end", EndSessionPage(session: session(1), problems: problems("session"))),
      ("search", search),
      (
        "search-nothing",
        SearchPage(text: word("x"), sessions: [], refusals: [], devices: [], keys: [], hasDevices: true)
      ),
      ("keys", keys), ("key", keyPage),
      (
        "key-revoke",
        RevokeKeyPage(
          key: key(1), sessions: rows, reason: word("shared among five people"), problems: problems("reason"))
      ),
      ("pair", PairPage(subject: word("anna"), name: word("Anna"), problems: problems("name"))),
      ("devices", devices), ("device", devicePage), ("device-confirm", confirmDevice),
      (
        "device-confirm-plain",
        ConfirmDevicePage(device: device(0), subject: word("anna"), problems: problems("subject"))
      ),
      ("device-revoke", RevokeDevicePage(device: device(1), sessions: rows, problems: problems("x"))),
      ("pairing", pairing(.open)), ("pairing-revealed", pairing(.revealed)),
      ("pairing-active", pairing(.active)),
      ("pairing-over", pairing(.over)),
      ("approvals", approvals), ("approval", approval(.isAwaited)), ("approval-over", approval(.isOver)),
      ("approval-own", approval(.isOwnRequest)),
      ("refusals", refusals), ("audit", audit), ("configuration", configuration), ("drain", drain(false)),
      ("draining", drain(true)), ("drain-end", EndAllPage(sessions: rows, problems: problems("x"))),
    ]
      + ErrorPage.Kind.allCases.map { kind in
        (
          "error-\(kind.rawValue)",
          ErrorPage(kind: kind, detail: rows == 0 ? nil : word("the gate's loop 2 is silent"))
        )
      }
  }

  var alone: [(name: String, bytes: [UInt8])] {
    let states: [(String, SignInPage.State)] = [
      ("sign-in", .howTo),
      ("sign-in-button", .button(path: "/sign-in/\(word("abc"))", operatorName: word("alice"))),
      ("sign-in-ended", .linkEnded), ("signed-out", .signedOut),
    ]
    let gate = word("gate1.example.com")
    return states.map { ($0.0, SignInPage(state: $0.1, gate: gate, version: "0.2.0").html()) }
      + ErrorPage.Kind.allCases.map { kind in
        let page = ErrorPage(kind: kind, detail: word("nothing here"))
        return ("alone-\(kind.rawValue)", page.html(gate: gate, version: "0.2.0"))
      }
  }

  func problems(_ field: String) -> [FieldProblem] {
    hasProblems
      ? [FieldProblem(field: field, text: word("This is not what belongs here: write something else."))] : []
  }

  func known(_ text: String, _ index: Int) -> String? { index % 4 == 3 ? nil : word(text) }

  /// 32 bytes in base64, others for each index.
  func keyID(_ index: Int) -> String {
    word("\(index % 10)Q9cOWQ9acHRlAMo09m4J5t18zfQuKs/tQ4ypNPJNo\(index / 10)=")
  }

  func identifier(_ index: Int) -> String { word("3f0c6a52-7a8f-4a53-9d3e-0242ac12\(1000 + index)") }
}

// MARK: Overview

extension Samples {
  var overview: OverviewPage {
    let names = ["listening", "draining", "loops", "store_writable", "game", "certificate", "disk", "clock"]
    return OverviewPage(
      now: Self.now, startedAt: Self.ago(42_000), waiting: waiting,
      checks: rows == 0
        ? []
        : names.map { name in
          if hasProblems, name == "store_writable" {
            return HealthCheck(
              name: name, standing: .bad, detail: word("keys.journal: no space left on device"))
          }
          let isGame = hasProblems && name == "game"
          return HealthCheck(
            name: name, standing: isGame ? .doubtful : .good,
            detail: isGame
              ? word("127.0.0.1:4000 refused the connection 14 times")
              : name == "clock" ? word("in step") : nil)
        },
      players: Players(
        attached: rows * 9, detached: rows / 4, connections: rows * 10, maximumConnections: 10_000),
      lastHour: period(1), lastDay: period(21),
      refusals: RefusalCode.allCases.prefix(rows / 5).enumerated().map {
        RefusalCount(code: $0.element, lastHour: $0.offset, lastDay: 40 + $0.offset * 3)
      },
      loops: (0..<min(rows, 4)).map {
        LoopLag(
          loop: $0, sessions: 110 + $0, medianMicroseconds: 61, percentile99Microseconds: 812,
          maximumMicroseconds: 4120)
      },
      store: StoreState(
        service: hasProblems ? .stalled : .accepting,
        reason: hasProblems ? word("no space left on device") : nil,
        keys: rows * 204, revokedKeys: rows / 3, journalBytes: UInt64(rows) * 24_691,
        commitMicroseconds: rows == 0 ? nil : 912, lastSnapshotAt: rows == 0 ? nil : Self.ago(3000)),
      certificates: rows == 0
        ? []
        : [
          CertificateEnd(name: word("gate1.example.com"), endsAt: Self.ago(-61 * 86_400)),
          CertificateEnd(name: word("client CA"), endsAt: Self.ago(hasProblems ? 60 : -12 * 86_400)),
        ],
      history: history)
  }

  /// A wave with noise, for as long as there are rows; the gate has not always run.
  private var history: History {
    var noise: UInt64 = 42
    func random(_ bound: Int) -> Int {
      noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(noise >> 33) % bound
    }
    let points: [History.Minute?] = (0..<min(rows * 30, History.minutes)).map { minute in
      if minute < 200 || (700..<740).contains(minute) { return nil }
      let slope = abs((minute + 300) % 1200 - 600)
      let players = 40 + slope * slope / 800 + random(12)
      return History.Minute(
        players: players, admissions: random(12), refusals: random(40) == 0 ? random(30) : random(2),
        lagMicroseconds: 200 + random(300) + (random(200) == 0 ? 4000 : 0),
        bytes: UInt64(players * 900 + random(50_000)))
    }
    return History(
      points: points, dayBefore: points.count < History.minutes ? [] : points.reversed(), end: Self.ago(13),
      starts: points.isEmpty ? [] : [Self.ago(74_400), Self.ago(42_000)])
  }

  private func period(_ factor: Int) -> Period {
    Period(
      admissions: rows * factor, registrations: rows / 5 * factor, refusals: rows / 7 * factor,
      mostPlayers: rows * 10, bytesFromPlayers: UInt64(rows * factor * 24_000),
      bytesFromGame: UInt64(rows * factor) * 612_000)
  }
}

// MARK: Sessions and keys

extension Samples {
  func session(_ index: Int) -> SessionRow {
    SessionRow(
      number: 1017 + index, state: index % 5 == 4 ? .detached : .attached, stateSince: Self.ago(60 + index),
      beganAt: Self.ago(7000 + index * 977), credential: index % 4 == 3 ? .certificate : .assertion,
      keyID: index % 4 == 3 ? nil : keyID(index), pseudonym: known("D2J9Fy7QRvKZ8BgwrS1BIQ", index),
      deviceID: known("3f0c6a52-7a8f-4a53-9d3e-0242ac120002", index),
      deviceName: known("Anna's iPhone", index),
      subject: index % 4 == 3 ? word("CN=simulator,O=Example") : nil,
      source: word("203.0.113.\(index):51234"),
      connection: word("1-\(index)80000000"), subprotocol: known("portcullis.v1", index),
      isKept: index % 2 == 0, bufferedBytes: index * 100, bytesFromPlayer: UInt64(index) * 12_345,
      bytesFromGame: UInt64(index) * 1_234_567)
  }

  var sessions: SessionsPage {
    SessionsPage(
      filter: .init(text: rows == 0 ? "" : word("anna"), state: rows == 0 ? nil : .attached),
      rows: (0..<rows).map(session),
      end: ListEnd(next: rows == 0 ? nil : word("1067"), isFirst: rows == 0, total: rows * 9),
      mayEnd: true)
  }

  func key(_ index: Int) -> KeyRow {
    let state = KeyRow.State.allCases[index % 4]
    return KeyRow(
      id: keyID(index), state: state, pseudonym: known("D2J9Fy7QRvKZ8BgwrS1BIQ", index + 1),
      appID: known("ABCDE12345.com.example.mud", index), environment: word("production"),
      bundleVersion: known("1.4.2", index), validationCategory: 1, registeredAt: Self.ago(9_000_000 - index),
      lastUsedAt: index % 4 == 3 ? nil : Self.ago(index * 500), signCount: index * 7,
      revokedAt: state == .revoked ? Self.ago(500) : nil,
      revokedReason: state == .revoked ? word("shared among five people") : nil,
      importedFrom: state == .imported ? word("goldfinch") : nil,
      goodUntil: state == .imported ? Self.ago(-60 * 86_400) : nil)
  }

  var keys: KeysPage {
    KeysPage(
      filter: .init(
        text: rows == 0 ? "" : word("TQ9cOWQ9"), app: word(""), since: hasProblems ? word("yesterday") : "",
        until: ""),
      problems: problems("since"), apps: [word("ABCDE12345.com.example.mud")], rows: (0..<rows).map(key),
      end: ListEnd(next: rows == 0 ? nil : word("x+/="), total: nil))
  }

  var keyPage: KeyPage {
    KeyPage(
      key: key(rows == 0 ? 2 : 1), sessions: (0..<min(rows, 3)).map(session),
      deviceID: rows == 0 ? nil : identifier(1), deviceName: rows == 0 ? nil : word("Anna's iPhone"),
      refusals: (0..<min(rows, 10)).map(refusal))
  }
}
