/// `/devices`, as HTML and as JSON.
internal import Prompt
internal import System

extension DevicesPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let isLive = end.isFirst && !isFiltered
    let layout = Layout(
      entry: .devices, heading: "Devices", problems: problems,
      liveFrom: isLive ? ConsolePath("/api/devices") : nil)
    return layout.html(frame) { html in
      if frame.mayChange {
        html.element(.p, .class(.actions)) { html in
          html.element(.a, .class(.button), .href(.pair), text: "Pair a phone…")
        }
      }
      if isLive {
        html.shown(with: pairingsTable) { html in
          html.element(.h2, text: "Waiting for their six digits")
          html.table(pairingsTable)
          html.element(.h2, text: "All devices")
        }
      }
      let isWhole = isLive && end.next == nil
      html.blank([table], isWhole: isWhole) { html in
        html.element(
          .p,
          text:
            "No phone is here yet. Pair the first one\(frame.mayChange ? " above, or" : "") on the gate’s host:"
        )
        html.element(.code, .class(.command), text: "portcullis devices pair --subject anna")
      }
      html.shown(with: table, isWhole: isWhole) { html in list(&html) }
    }
  }

  private func list(_ html: inout HTML) {
    html.filter(.devices, isActive: isFiltered) { html in
      html.field(
        .text, "Name or id", value: filter.text, hint: "Part of it is enough", problems: problems)
      html.field(
        .subject, "Subject", value: filter.subject, hint: "Whose it is, whole", problems: problems)
      html.choice(
        .state, "State", any: "Any", options: DeviceRow.State.allCases.map { ($0.rawValue, $0.rawValue) },
        chosen: filter.state?.rawValue)
    }
    html.table(table)
    html.pages(end, address)
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(table)
    answer.add(pairingsTable)
    return answer
  }

  private var isFiltered: Bool { address != .devices }

  private var address: ConsolePath {
    ConsolePath.devices.asking("text", optional: filter.text).asking("subject", optional: filter.subject)
      .asking("state", optional: filter.state?.rawValue)
  }

  private var table: Table {
    Table(
      name: "devices", caption: end.total.map { Wording.count($0, "device", "devices") } ?? "Devices",
      columns: DeviceRow.columns, rows: rows.map(\.cells),
      empty: end.inPlaceOfRows(isFiltered ? "No device is like that." : "There is no device yet."))
  }

  private var pairingsTable: Table {
    Table(
      name: "pairings", caption: "Phones that show six digits now", hidesCaption: true,
      columns: [
        .init("phone", "Phone"), .init("subject", "Subject"), .init("ends", "Time left"),
        .init("tries", "Tries left", isNumber: true),
      ],
      rows: pairings.map { pairing in
        let name = Cell.text(pairing.name ?? "a phone without a name")
        let path = ConsolePath.devices.appending(pairing.deviceID ?? pairing.id).appending("confirm")
        return [
          .link(name, path), .optional(pairing.subject), .ends(pairing.expiresAt), .number(pairing.triesLeft),
        ]
      }, empty: "No phone waits.")
  }
}

extension DeviceRow {
  static let columns: [Table.Column] = [
    .init("device", "Device"), .init("state", "State", isMark: true), .init("subject", "Subject"),
    .init("seen", "Last seen"), .init("platform", "Platform", isMinor: true),
    .init("level", "Its keys", isMinor: true), .init("made", "Since", isMinor: true),
  ]

  var cells: [Cell] {
    [
      nameCell, standing, .optional(subject), .optional(seenAt), .text(platform), levelCell,
      .time(createdAt),
    ]
  }

  var nameCell: Cell {
    .lines([
      .link(.text(name.flatMap { $0.isEmpty ? nil : $0 } ?? "without a name"), .device(id)),
      .code(Wording.cut(id, to: 8)),
    ])
  }

  var standing: Cell {
    switch state {
    case .pending: .standing(.doubtful, state.rawValue)
    case .active: .standing(.good, state.rawValue)
    case .revoked: .standing(.bad, state.rawValue)
    }
  }

  var levelCell: Cell { .text(Wording.plain(level)) }

  var title: String { Wording.cut(name.flatMap { $0.isEmpty ? nil : $0 } ?? id, to: 80) }
}
