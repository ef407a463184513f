/// `/` as HTML and as JSON.
internal import PortcullisProtocol
internal import Prompt
internal import System
internal import Time

extension OverviewPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(entry: .overview, heading: "Overview", liveFrom: ConsolePath("/api/overview"))
    return layout.html(frame) { html in
      verdict(&html)
      waits(&html)
      html.strip(Strip(of: history))
      html.figures(figures.map { ($0.figure, $0.note) })
      html.element(.h2, text: history.span == History.minutes ? "The last 24 hours" : "The first hour")
      html.element(.div, .class(.charts)) { html in
        for chart in charts { html.chart(chart) }
      }
      startsAndGaps(&html)
      html.element(.p) { $0.element(.a, .href(.hours), text: "The same hour by hour, as a table") }
      html.element(.div, .class(.panels)) { html in
        html.element(.div) { html in
          html.section("Checks") { html in
            html.shown(with: checksTable) { $0.table(checksTable) }
            html.element(.p, .class(.note), .text(.dataLive, "checks-rest"), text: checksRest)
          }
          html.section("Event loops") { $0.table(loopsTable) }
        }
        html.section("Refusals by code") { html in
          html.table(refusalsTable)
          html.element(.p) { $0.element(.a, .href(.refusals), text: "The last refusals, and what to do") }
        }
        html.section("Key store") { html in
          html.element(.div, .class(.panel)) { $0.facts(storeFacts) }
        }
        html.element(.div) { html in
          html.section("Certificates") { $0.table(certificatesTable) }
          html.section("This gate") { html in
            html.element(.div, .class(.panel)) { html in
              html.facts([
                Fact("Version", .text(frame.version)), Fact("Started", .time(startedAt)),
                Fact("Connections", connections, live: "connections"),
              ])
            }
          }
        }
      }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add("verdict", .text(verdict))
    answer.add("verdict-detail", .sentence(verdictDetail))
    answer.add("verdict", standing)
    for (figure, note) in figures { answer.add([figure] + (note.map { [$0] } ?? [])) }
    answer.add("connections", connections)
    answer.add(storeFacts)
    answer.add("waits", .text(waiting.title))
    answer.add("day-before", .text(aboutDayBefore))
    answer.add("checks-rest", .text(checksRest))
    for table in [waiting.table, checksTable, refusalsTable, loopsTable, certificatesTable] {
      answer.add(table)
    }
    for chart in charts { answer.add(chart) }
    answer.add(Strip(of: history))
    return answer
  }

  // MARK: Is all well?

  private func verdict(_ html: inout HTML) {
    html.element(
      .div, .class(.verdict, .of(standing)), .text(.dataStanding, "verdict"), .fixed(.role, "status")
    ) { html in
      html.element(.strong, .text(.dataLive, "verdict"), text: verdict)
      html.element(
        .span, .text(.dataLive, "verdict-detail"), text: Wording.cut(verdictDetail, to: Cell.longestSentence))
    }
  }

  /// Below the verdict, and there only while something waits.
  private func waits(_ html: inout HTML) {
    html.shown(with: waiting.table, .notice, .doubtful, .waits) { html in
      html.element(.h2, .text(.dataLive, "waits"), text: waiting.title)
      html.table(waiting.table)
    }
  }

  // MARK: Numbers

  private var figures: [(figure: Fact, note: Fact?)] {
    [
      (
        Fact("Players now", .number(players.attached), live: "players"),
        Fact("away", .number(players.detached), live: "detached")
      ),
      (
        Fact("Admissions, last hour", .number(lastHour.admissions), live: "admissions-hour"),
        Fact("last day", .number(lastDay.admissions), live: "admissions-day")
      ),
      (
        Fact("Refusals, last hour", .number(lastHour.refusals), live: "refusals-hour"),
        Fact("last day", .number(lastDay.refusals), live: "refusals-day")
      ),
      (
        Fact("New keys, last hour", .number(lastHour.registrations), live: "registrations-hour"),
        Fact("last day", .number(lastDay.registrations), live: "registrations-day")
      ),
      (
        Fact("Peak, last day", .number(lastDay.mostPlayers), live: "most-day"),
        Fact("last hour", .number(lastHour.mostPlayers), live: "most-hour")
      ),
      (
        Fact(
          "Traffic, last hour", .bytes(lastHour.bytesFromPlayers &+ lastHour.bytesFromGame),
          live: "traffic-hour"),
        Fact(
          "last day", .bytes(lastDay.bytesFromPlayers &+ lastDay.bytesFromGame), live: "traffic-day")
      ),
    ]
  }

  private var connections: Cell {
    .text("\(Wording.count(players.connections)) of \(Wording.count(players.maximumConnections)) at most")
  }

  private var refusalsTable: Table {
    Table(
      name: "refusals", caption: "How often each code was told", hidesCaption: true,
      columns: [
        .init("code", "Code"), .init("hour", "Last hour", isNumber: true),
        .init("day", "Last day", isNumber: true),
      ],
      rows: refusals.sorted { $0.lastDay > $1.lastDay }.map { refusal in
        [
          .link(.code(refusal.code.rawValue), .refusals.asking("code", refusal.code.rawValue)),
          .number(refusal.lastHour), .number(refusal.lastDay),
        ]
      }, empty: "Nobody was refused in the last day.")
  }

  private var loopsTable: Table {
    Table(
      name: "loops", caption: "How long a turn takes, in the last minute", hidesCaption: false,
      columns: [
        .init("loop", "Loop"), .init("sessions", "Sessions", isNumber: true),
        .init("median", "Median", isNumber: true), .init("p99", "99th percentile", isNumber: true),
        .init("longest", "Longest", isNumber: true),
      ],
      rows: loops.map { loop in
        [
          .text("\(loop.loop)"), .number(loop.sessions), .microseconds(loop.medianMicroseconds),
          .microseconds(loop.percentile99Microseconds), .microseconds(loop.maximumMicroseconds),
        ]
      }, empty: "No loop has answered.")
  }

  private var storeFacts: [Fact] {
    let service: Cell =
      switch store.service {
      case .accepting: .standing(.good, "accepting")
      case .stalled: .standing(.bad, "stalled")
      case .closed: .standing(.doubtful, "closed")
      }
    return [
      Fact("State", .lines([service, .optional(sentence: store.reason)]), live: "store-state"),
      Fact("Keys", .number(store.keys), live: "store-keys"),
      Fact("Revoked", .number(store.revokedKeys), live: "store-revoked"),
      Fact("Journal", .bytes(store.journalBytes), live: "store-journal"),
      Fact(
        "A commit takes, on average", store.commitMicroseconds.map { .microseconds($0) } ?? .none,
        live: "store-commit"),
      Fact("Last snapshot", .optional(store.lastSnapshotAt), live: "store-snapshot"),
    ]
  }

  private var certificatesTable: Table {
    Table(
      name: "certificates", caption: "Until when certificates are good", hidesCaption: true,
      columns: [.init("certificate", "Certificate"), .init("left", "Left"), .init("ends", "Ends")],
      rows: certificates.map { certificate in
        let seconds = (certificate.endsAt.milliseconds - now.milliseconds) / 1000
        let left: Cell =
          if seconds <= 0 {
            .standing(.bad, "over")
          } else {
            .standing(
              seconds < 7 * 86_400 ? .bad : seconds < 21 * 86_400 ? .doubtful : .good,
              Wording.duration(seconds: seconds))
          }
        return [.text(certificate.name), left, .time(certificate.endsAt)]
      }, empty: "There is no certificate.")
  }
}
