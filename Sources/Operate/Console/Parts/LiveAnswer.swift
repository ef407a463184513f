/// What changes on a page while it is looked at (docs/console.md, "Console"): `live` has values by name, `standings`
/// colours by name, `rows` tables by name and column, `charts` drawings by name.
internal import JSON

struct LiveAnswer: Sendable {
  private(set) var values: [(name: StaticString, cell: Cell)] = []
  private(set) var standings: [(name: StaticString, standing: Standing)] = []
  private(set) var tables: [Table] = []
  private(set) var charts: [Chart] = []
  private(set) var strip: Strip?

  mutating func add(_ name: StaticString, _ cell: Cell) { values.append((name, cell)) }

  mutating func add(_ name: StaticString, _ standing: Standing) { standings.append((name, standing)) }

  mutating func add(_ facts: [Fact]) {
    for fact in facts { if let name = fact.name { add(name, fact.value) } }
  }

  mutating func add(_ table: Table) { tables.append(table) }
  mutating func add(_ chart: Chart) { charts.append(chart) }
  mutating func add(_ strip: Strip) { self.strip = strip }

  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("live")
    writer.beginObject()
    for value in values {
      writer.name("\(value.name)")
      writer.cell(value.cell)
    }
    for table in tables { writer.member("\(table.name)-caption", table.caption) }
    for chart in charts { chart.writeValues(to: &writer) }
    if let strip { writer.member("strip", strip.sentence) }
    writer.endObject()
    writer.name("standings")
    writer.beginObject()
    for standing in standings { writer.member("\(standing.name)", standing.standing.rawValue) }
    writer.endObject()
    writer.name("rows")
    writer.beginObject()
    for table in tables {
      writer.name("\(table.name)")
      writer.rows(of: table)
    }
    writer.endObject()
    writer.name("charts")
    writer.beginObject()
    for chart in charts {
      writer.name("\(chart.name)")
      chart.writeDrawing(to: &writer)
    }
    if let strip {
      writer.name(Strip.name)
      strip.writeDrawing(to: &writer)
    }
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }
}
