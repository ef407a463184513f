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
      // On a page that is live it is there for whoever comes.
      if isLive || !pairings.isEmpty {
        html.section("Waiting for their six digits") { $0.table(pairingsTable) }
        html.element(.h2, text: "All devices")
      }
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
  }

  func json() -> [UInt8] {
    var answer = LiveAnswer()
    answer.add(table)
    answer.add(pairingsTable)
    return answer.json()
  }

  private var isFiltered: Bool { address != .devices }

  private var address: ConsolePath {
    ConsolePath.devices.asking("text", optional: filter.text).asking("subject", optional: filter.subject)
      .asking("state", optional: filter.state?.rawValue)
  }

  private var table: Table {
    Table(
      name: "devices", caption: end.total.map { Wording.count($0, "device", "devices") } ?? "Devices",
      columns: [
        .init("device", "Device"), .init("subject", "Subject"), .init("state", "State"),
        .init("platform", "Platform"), .init("level", "Its keys"), .init("seen", "Last seen"),
        .init("made", "Since"),
      ],
      rows: rows.map { device in
        [
          device.nameCell, .optional(device.subject), device.standing, .text(device.platform),
          device.levelCell,
          .optional(device.seenAt), .time(device.createdAt),
        ]
      }, empty: end.inPlaceOfRows(isFiltered ? "No device is like that." : "There is no device yet."))
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
