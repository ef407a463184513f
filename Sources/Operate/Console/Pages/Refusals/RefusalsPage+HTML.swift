/// `/refusals`, as HTML and as JSON.
internal import PortcullisProtocol
internal import Prompt
internal import System

extension RefusalsPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .refusals, heading: "Refusals",
      lede:
        "The last thousand since the gate was started. The peer was told the code alone, the step is for you.",
      liveFrom: end.isFirst ? address(ConsolePath("/api/refusals")) : nil)
    return layout.html(frame) { html in
      // Who looks for something has seen them.
      if !isFiltered, end.isFirst { html.section("By code and step") { $0.table(groupsTable) } }
      html.section("One by one") { html in
        html.filter(.refusals, isActive: isFiltered) { html in
          html.choice(
            .code, "Code", any: "Any", options: RefusalCode.allCases.map { ($0.rawValue, $0.rawValue) },
            chosen: filter.code?.rawValue)
          html.field(.step, "Step", value: filter.step, hint: "A word of the log")
        }
        if let advice { html.element(.p, .class(.notice, .neutral), text: advice) }
        html.table(table)
        html.pages(end, address(.refusals))
      }
    }
  }

  func json() -> [UInt8] {
    var answer = LiveAnswer()
    answer.add(groupsTable)
    answer.add(table)
    return answer.json()
  }

  private func address(_ path: ConsolePath) -> ConsolePath {
    path.asking("code", optional: filter.code?.rawValue).asking("step", optional: filter.step)
  }

  private var isFiltered: Bool { address(.refusals) != .refusals }

  private var advice: String? {
    RefusalAdvice.text(step: filter.step) ?? filter.code.map(RefusalAdvice.text)
  }

  private var groupsTable: Table {
    Table(
      name: "groups", caption: "Refusals by code and step, the most frequent first", hidesCaption: true,
      columns: [
        .init("code", "Code"), .init("step", "Step"), .init("count", "How many", isNumber: true),
        .init("last", "Last"), .init("advice", "What to do"),
      ],
      rows: groups.prefix(ListEnd.rowsPerPage).map { group in
        let path = ConsolePath.refusals.asking("code", group.code.rawValue).asking(
          "step", optional: group.step)
        let advice = group.step.flatMap(RefusalAdvice.text(step:)) ?? RefusalAdvice.text(group.code)
        return [
          .link(.code(group.code.rawValue), path), .optional(code: group.step), .number(group.count),
          .time(group.lastAt), .sentence(advice),
        ]
      }, empty: "Nobody has been refused.")
  }

  private var table: Table {
    Table(
      name: "refusals",
      caption: end.total.map { "\(Wording.count($0, "refusal", "refusals")), the latest first" }
        ?? "The latest first",
      columns: [
        .init("at", "When"), .init("code", "Code"), .init("step", "Step"), .init("source", "From"),
        .init("path", "Asked for"), .init("key", "Key"), .init("connection", "Connection"),
      ],
      rows: rows.map { refusal in
        [
          .time(refusal.at), .code(refusal.code.rawValue), .optional(code: refusal.step),
          .text(refusal.source), .optional(code: refusal.path),
          refusal.keyID.map { .link(.code(Wording.shortKey($0)), .key($0)) } ?? .none,
          .optional(code: refusal.connection),
        ]
      }, empty: isFiltered ? "No refusals match this filter." : "Nobody has been refused.")
  }
}
