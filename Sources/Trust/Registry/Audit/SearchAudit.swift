/// What the console asks of the audit: the latest rows first, by event, by whom they are about, by day
/// (docs/console.md, "Console").
internal import DeviceWire
package import JSON
internal import PortcullisProtocol

/// A page of rows before one of them, as `audit list` has them. A search that has gone through very many rows ends with what
/// it has found, and says where it goes on.
package struct SearchAudit: AnsweringCall {
  package typealias Answer = AuditSearchPage
  private static let piece = 2000
  private static let most = 200_000

  private let event: String
  private let about: String
  /// Unix seconds: from the first, and before the second.
  private let from: Int64
  private let until: Int64
  private let limit: Int
  private var before: Int64
  private var found: [AuditRow] = []
  private var looked = 0
  /// Those of the first piece, to be chosen from.
  private var events: Set<String> = []

  /// - Parameters:
  ///   - event: all, where it is empty; so is `about`.
  ///   - about: a whole number, or a part of a text.
  ///   - times: Unix seconds.
  ///   - limit: 1 to 1000.
  package init(event: String, about: String, times: Range<Int64>?, before: Int64?, limit: Int) {
    self.event = event
    self.about = about.lowercased()
    from = times?.lowerBound ?? .min
    until = times?.upperBound ?? .max
    self.before = before ?? .max
    self.limit = min(max(1, limit), Int(AuditOrders.longestPage))
  }

  init(_ arguments: JSONObject) throws(FormError) {
    let arguments = try OrderArguments(arguments, "before", "event", "about", "from", "until", "limit")
    before = try arguments.optionalInteger("before") ?? .max
    event = try arguments.optionalText("event") ?? ""
    about = (try arguments.optionalText("about") ?? "").lowercased()
    from = try arguments.optionalInteger("from") ?? .min
    until = try arguments.optionalInteger("until") ?? .max
    let limit = try arguments.integer("limit")
    guard (1...AuditOrders.longestPage).contains(limit) else { throw FormError("limit") }
    self.limit = Int(limit)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var next = self
    let rows = try transaction.store.auditRows(before: before, limit: Self.piece)
    if looked == 0 { next.events = Set(rows.compactMap(Self.event)) }
    for row in rows {
      // The registry's clock never goes back: all that is before this one is older still.
      if row.at.value < from { return next.answer(goesOn: false) }
      if next.found.count == limit { return next.answer(goesOn: true) }
      next.before = row.sequence
      next.looked += 1
      if isWanted(row) { next.found.append(row) }
    }
    if rows.count < Self.piece { return next.answer(goesOn: false) }
    return next.looked >= Self.most ? next.answer(goesOn: true) : .goOn(next)
  }

  private static func event(_ row: AuditRow) -> String? {
    row.object?["event"]?.string
  }

  private func isWanted(_ row: AuditRow) -> Bool {
    if row.at.value >= until { return false }
    if event.isEmpty, about.isEmpty { return true }
    guard let object = row.object else { return event.isSameText(as: "erased") && about.isEmpty }
    if !event.isEmpty, object["event"]?.string?.isSameText(as: event) != true { return false }
    return about.isEmpty
      || object.members.contains { member in
        guard member.name != "event" else { return false }
        return member.value.string?.lowercased().contains(about) == true
          || member.value.integer.map { "\($0)" } == about
      }
  }

  private func answer(goesOn: Bool) -> Outcome {
    .reply(.value(AuditSearchPage(rows: found, events: events.sorted(), next: goesOn ? before : nil)))
  }
}

/// The latest rows first, and where the search goes on, if it does.
package struct AuditSearchPage: RegistryAnswer {
  package let rows: [AuditRow]
  /// Those of the first rows that were looked at, to choose from.
  package let events: [String]
  /// The number of the last row that was looked at.
  package let next: Int64?

  package func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("rows")
    json.beginArray()
    for row in rows { row.list(to: &json) }
    json.endArray()
    json.name("events")
    json.beginArray()
    for event in events { json.value(event) }
    json.endArray()
    if let next { json.member("next", next) }
    json.endObject()
  }
}

/// What an operator has done, in the console or by the control socket, that is no call of a part: sessions and keys that he
/// has ended, settings that he had read again. The row names him by its origin.
package struct NoteOperatorAction: RegistryCall {
  private let event: AuditEntry.Event
  private let members: [AuditEntry.Member]

  package init(_ event: AuditEntry.Event, _ members: [AuditEntry.Member] = []) {
    self.event = event
    self.members = members
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try transaction.record(event, members)
    return .reply(.answered(Array("{}".utf8)))
  }
}

extension AuditEntry.Event {
  package static let sessionEnded = Self("session_ended")
  package static let allSessionsEnded = Self("all_sessions_ended")
  package static let keyRevoked = Self("key_revoked")
  package static let keysPruned = Self("keys_pruned")
  package static let keysImported = Self("keys_imported")
  package static let reloaded = Self("reloaded")
  package static let drainBegun = Self("drain_begun")
  package static let drainEnded = Self("drain_ended")
  package static let adminSignedIn = Self("admin_signed_in")
  package static let adminTokenMade = Self("admin_token_made")
  package static let adminRevoked = Self("admin_revoked")
  package static let adminTokensNotWritten = Self("admin_tokens_not_written")
}
