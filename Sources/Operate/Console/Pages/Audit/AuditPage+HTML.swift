/// `/audit`, as HTML and as JSON.
internal import Prompt
internal import System

extension AuditPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .audit, heading: "Audit",
      lede:
        "Each change, and each decision that was refused to a device or service that is known. A row that was "
        + "changed or cut out breaks the chain behind it.",
      problems: problems)
    return layout.html(frame) { html in
      verdict(&html)
      html.element(.p, .class(.actions)) { html in
        html.element(.a, .href(ConsolePath.audit.asking("verify", "1")), text: "Verify the chain")
        html.element(.a, .href(ConsolePath.audit.appending("export")), text: "Export all rows (JSON lines)")
      }
      html.filter(.audit, isActive: address != .audit) { html in
        html.choice(
          .event, "Event", any: "Any", options: choices.map { ($0, Wording.cut(Wording.plain($0), to: 80)) },
          chosen: filter.event.isEmpty ? nil : filter.event)
        html.field(
          .about, "About", value: filter.about, hint: "A device, a subject, an operator", problems: problems)
        html.field(
          .day, "Day", value: filter.day, hint: "As 2026-11-23, UTC", problems: problems, longest: 10)
      }
      html.table(table)
      html.pages(end, address)
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(table)
    return answer
  }

  private var address: ConsolePath {
    ConsolePath.audit.asking("event", optional: filter.event).asking("about", optional: filter.about)
      .asking("day", optional: filter.day)
  }

  /// Those that were met, and the one that is chosen, which else would be lost with the next search.
  private var choices: [String] {
    filter.event.isEmpty || events.contains(filter.event) ? events : [filter.event] + events
  }

  private func verdict(_ html: inout HTML) {
    let said: (standing: Standing, text: String)? =
      switch verification {
      case .notAsked: nil
      case .holds(let rows): (.good, "The chain holds: \(Wording.count(rows, "row", "rows")), none changed.")
      case .broken(let sequence, let reason):
        (.bad, "The chain is broken at row \(Wording.count(sequence)): \(reason)")
      case .failed(let reason): (.doubtful, "The chain could not be verified: \(reason)")
      }
    guard let said else { return }
    html.element(
      .p, .class(.notice, .of(said.standing)), .fixed(.role, "status"), text: Wording.cut(said.text, to: 500))
  }

  private var table: Table {
    Table(
      name: "audit",
      caption: end.total.map { "\(Wording.count($0, "row", "rows")), the latest first" }
        ?? "The latest first",
      columns: [
        .init("event", "Event", isWhole: true), .init("at", "When", isMark: true), .init("actor", "By"),
        .init("says", "What it says"), .init("row", "Row", isMinor: true),
      ],
      rows: rows.map { row in
        [
          .text(Wording.plain(row.event)), .time(row.at), row.by, .lines(row.says), .text("\(row.sequence)"),
        ]
      },
      empty: end.inPlaceOfRows(address == .audit ? "Nothing has been written yet." : "No row is like that."))
  }
}

extension AuditLine {
  /// What a reader looks for; the rest is identifiers, which are folded.
  private static let telling: Set = [
    "subject", "operation", "name", "reason", "decision", "code", "step", "token", "scopes", "result",
    "level", "service",
  ]
  /// The whole text of a request, in a form that its signatures are over.
  private static let hidden: Set = ["summary"]

  fileprivate var by: Cell {
    if let actor { return .text(actor) }
    if let service { return .text("service \(service)") }
    guard let deviceID else { return .none }
    return .link(deviceName.map { .text($0) } ?? .code(Wording.cut(deviceID, to: 8)), .device(deviceID))
  }

  fileprivate var says: [Cell] {
    let shown = members.filter { !Self.hidden.contains($0.name) }.prefix(16)
    let telling = shown.filter { Self.telling.contains($0.name) }
    let rest = shown.filter { !Self.telling.contains($0.name) }
    func line(_ member: (name: String, value: String)) -> String {
      "\(Wording.plain(member.name)): \(member.value)"
    }
    return (telling.isEmpty ? [] : [.sentence(telling.map(line).joined(separator: " · "))])
      + (rest.isEmpty
        ? [] : [.details(Wording.count(rest.count, "detail", "details"), rest.map { .text(line($0)) })])
  }
}
