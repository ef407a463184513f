/// `/search`, as HTML and as JSON: what a person is refused for stands before what else is known.
internal import Prompt

extension SearchPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(entry: nil, heading: "Search", lede: lede)
    return layout.html(frame) { html in
      if !sessions.isEmpty { html.section("Players now") { $0.table(sessionsTable(frame)) } }
      if !refusals.isEmpty { html.section("Last refusals") { $0.table(refusalsTable) } }
      if !devices.isEmpty { html.section("Phones") { $0.table(devicesTable) } }
      if !keys.isEmpty { html.section("Keys") { $0.table(keysTable) } }
      if !text.isEmpty, !isEmpty, refusals.isEmpty {
        html.element(.p, .class(.note), text: "No refusal among the last thousand is theirs.")
      }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    for table in [SessionRow.table(sessions, of: "search"), refusalsTable, devicesTable, keysTable] {
      answer.add(table)
    }
    return answer
  }

  private var lede: String {
    if text.isEmpty {
      return
        "Type a phone’s name, its owner, a key’s or a pseudonym’s beginning, or an address, into the field above."
    }
    let shown = "“\(Wording.cut(text, to: 80))”"
    guard isEmpty else { return "What \(shown) may mean." }
    return
      "Nothing is called \(shown): no player, no refusal among the last thousand\(hasDevices ? ", no phone" : "") "
      + "and no key. Of a key, four characters of its beginning are needed."
  }

  private func sessionsTable(_ frame: PageFrame) -> Table {
    SessionRow.table(sessions, of: "search", mayEnd: frame.mayChange)
  }

  private var refusalsTable: Table { RefusalRow.lastTable(refusals, of: "search") }

  private var devicesTable: Table {
    Table(
      name: "devices", caption: "Phones of that name or owner", hidesCaption: true,
      columns: DeviceRow.columns, rows: devices.map(\.cells), empty: "No phone is called so.")
  }

  private var keysTable: Table {
    Table(
      name: "keys", caption: "Keys that begin so", hidesCaption: true, columns: KeyRow.columns,
      rows: keys.map(\.cells), empty: "No key begins so.")
  }
}
