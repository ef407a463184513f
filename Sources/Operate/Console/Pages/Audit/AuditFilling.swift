/// What the page of the audit shows, and its export.
import Admin
import Bytes
import Control
import JSON
import System

extension ConsolePages {
  func audit(_ request: AdminRequest) throws(ConsoleFailure) -> AuditPage {
    let query = request.query
    let filter = AuditPage.Filter(
      event: query["event"] ?? "", about: query["about"] ?? "", day: query["day"] ?? "")
    let day = filter.day.isEmpty ? nil : Day(filter.day)
    let verification = query["verify"] == "1" ? verify(request) : .notAsked
    if !filter.day.isEmpty, day == nil {
      return AuditPage(
        filter: filter, problems: [Day.problem("day", filter.day)], events: [], rows: [], end: ListEnd(),
        verification: verification)
    }
    let after = query["after"].flatMap { Int64($0) }
    var arguments: [(name: String, value: JSONValue)] = [
      ("limit", .number(JSONNumber(Int64(ListEnd.rowsPerPage))))
    ]
    if !filter.event.isEmpty { arguments.append(("event", .string(filter.event))) }
    if !filter.about.isEmpty { arguments.append(("about", .string(filter.about))) }
    if let day {
      arguments.append(("from", .number(JSONNumber(day.start.seconds))))
      arguments.append(("until", .number(JSONNumber(day.end.seconds))))
    }
    if let after { arguments.append(("before", .number(JSONNumber(after)))) }
    let found = try ask("audit-search", arguments, request).object
    let next = found?["next"]?.integer.map { "\($0)" }
    return AuditPage(
      filter: filter, events: (found?["events"]?.array ?? []).compactMap(\.string),
      rows: (found?["rows"]?.array ?? []).compactMap { AuditRow($0.object) },
      end: ListEnd(next: next, isFirst: after == nil), verification: verification)
  }

  private func verify(_ request: AdminRequest) -> AuditPage.Verification {
    switch order("audit-verify", [], request) {
    case .failure(let refusal): return .failed(reason: refusal.message)
    case .success(let value):
      guard let object = value.object else { return .failed(reason: "the registry did not say") }
      if object["valid"]?.boolean == true { return .holds(rows: object.count("rows")) }
      return .broken(sequence: object.count("seq") + 1, reason: object.text("fault") ?? "")
    }
  }

  /// One JSON object a line, as `portcullis audit export` writes them.
  func exportAudit(_ request: AdminRequest) -> AdminAnswer {
    .stream(
      contentType: "application/jsonl; charset=utf-8", fileName: "portcullis-audit.jsonl",
      AuditLines { after in
        let found = self.order("audit-export", [("after", .number(JSONNumber(after)))], request)
        guard case .success(let value) = found else { return nil }
        return value.array
      })
  }
}

/// Used by the slow thread alone.
private final class AuditLines: AdminBody, @unchecked Sendable {
  private let page: @Sendable (_ after: Int64) -> [JSONValue]?
  private var after: Int64? = 0

  init(page: @escaping @Sendable (_ after: Int64) -> [JSONValue]?) {
    self.page = page
  }

  func next() -> [UInt8]? {
    guard let after else { return nil }
    guard let rows = page(after) else {
      // The file says that it is not whole.
      self.after = nil
      return Array("{\"error\":\"the export ended here: the registry did not answer\"}\n".utf8)
    }
    self.after = rows.last?.object?["seq"]?.integer
    if rows.isEmpty { return nil }
    var lines: [UInt8] = []
    for row in rows {
      var writer = JSONWriter()
      writer.value(row)
      lines += writer.bytes
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }
}

extension AuditRow {
  private static let heads: Set = ["seq", "at", "event", "actor"]

  fileprivate init?(_ object: JSONObject?) {
    guard let object, let sequence = object["seq"]?.integer, let at = object.time("at") else { return nil }
    self.init(
      sequence: Int(clamping: sequence), at: at, event: object.text("event") ?? "",
      actor: object.text("actor") ?? object["uid"]?.integer.map { "user \($0)" },
      members: object.members.filter { !Self.heads.contains($0.name) }.map { member in
        (member.name, Self.text(member.value))
      })
  }

  private static func text(_ value: JSONValue) -> String {
    if let text = value.string { return text }
    var writer = JSONWriter()
    writer.value(value)
    return writer.string
  }
}
