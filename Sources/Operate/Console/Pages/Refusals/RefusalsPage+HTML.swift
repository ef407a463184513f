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
      let isWhole = !isFiltered && end.isFirst
      html.blank([table], isWhole: isWhole) { html in
        html.element(
          .p,
          text:
            "Nobody has been refused since the gate was started. Who is stands here, with what to do about it."
        )
      }
      // Who looks for something has seen them.
      if isWhole {
        html.shown(with: groupsTable) { html in
          html.element(.h2, text: "By code and step")
          html.table(groupsTable)
        }
      }
      html.shown(with: table, isWhole: isWhole) { html in
        html.element(.h2, text: "One by one")
        html.filter(.refusals, isActive: isFiltered) { html in
          html.field(
            .text, "Who or from where", value: filter.text, hint: "Key, pseudonym, device or address")
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

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(groupsTable)
    answer.add(table)
    return answer
  }

  private func address(_ path: ConsolePath) -> ConsolePath {
    path.asking("code", optional: filter.code?.rawValue).asking("step", optional: filter.step)
      .asking("text", optional: filter.text)
  }

  private var isFiltered: Bool { address(.refusals) != .refusals }

  private var advice: String? {
    RefusalAdvice.text(step: filter.step) ?? filter.code.map(RefusalAdvice.text)
  }

  private var groupsTable: Table {
    Table(
      name: "groups", caption: "Refusals by code and step, the most frequent first", hidesCaption: true,
      columns: [
        .init("code", "Code"), .init("step", "Step"),
        .init("count", "How many", isNumber: true, isMark: true),
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
        .init("at", "When"), .init("code", "Code", isMark: true), .init("step", "Step"),
        .init("source", "From", isWhole: true), .init("who", "Who"),
        .init("path", "Asked for", isMinor: true),
        .init("connection", "Connection", isMinor: true),
      ],
      rows: rows.map { refusal in
        [
          .time(refusal.at), .code(refusal.code.rawValue), .optional(code: refusal.step),
          .text(refusal.source), refusal.who, .optional(code: refusal.path),
          .optional(code: refusal.connection),
        ]
      }, empty: isFiltered ? "No refusals match this filter." : "Nobody has been refused.")
  }
}

// MARK: Of one key, device or person

extension RefusalRow {
  /// By its own words; a link where there is such a one.
  var who: Cell {
    var lines: [Cell] = []
    if let deviceID {
      let name = deviceName.map { Cell.text($0) } ?? .code(Wording.cut(deviceID, to: 8))
      lines.append(isDeviceKnown ? .link(name, .device(deviceID)) : name)
    }
    if let keyID {
      let name = Cell.code(Wording.shortKey(keyID))
      lines.append(isKeyKnown ? .link(name, .key(keyID)) : name)
    }
    return lines.isEmpty ? .none : .lines(lines)
  }

  /// On the page of what was refused.
  static func lastTable(_ refusals: [RefusalRow], of owner: String) -> Table {
    Table(
      name: "refusals", caption: "The last refusals of this \(owner), with what to do", hidesCaption: true,
      columns: [
        .init("code", "Code"), .init("at", "When"), .init("step", "Step"),
        .init("source", "From", isWhole: true),
        .init("advice", "What to do"),
      ],
      rows: refusals.map { refusal in
        let advice = refusal.step.flatMap(RefusalAdvice.text(step:)) ?? RefusalAdvice.text(refusal.code)
        return [
          .code(refusal.code.rawValue), .time(refusal.at), .optional(code: refusal.step),
          .text(Wording.address(refusal.source)), .sentence(advice),
        ]
      }, empty: "Not refused, as far as the last thousand refusals go back.")
  }
}
