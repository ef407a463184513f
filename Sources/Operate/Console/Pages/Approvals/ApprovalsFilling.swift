/// What the pages of approvals show.
import Admin
import Bytes
import Control
import JSON
import System

extension ConsolePages {
  /// So many pending ones are shown, which is as many as there can well be.
  private static let mostPending: Int64 = 500

  func approvals(_ request: AdminRequest) throws(ConsoleFailure) -> ApprovalsPage {
    let after = request.query["after"]
    let pending = try browse(
      [("pending", .number(1)), ("limit", .number(JSONNumber(Self.mostPending)))], request)
    let limit = Int64(ListEnd.rowsPerPage + 1)
    let decided = try browse(
      [("limit", .number(JSONNumber(limit)))] + (after.map { [("after", .string($0))] } ?? []), request)
    let shown = Array(decided.prefix(ListEnd.rowsPerPage))
    return ApprovalsPage(
      pending: pending.sorted { $0.expiresAt < $1.expiresAt }, decided: shown,
      end: ListEnd(next: decided.count > shown.count ? shown.last?.id : nil, isFirst: after == nil))
  }

  private func browse(
    _ arguments: [(name: String, value: JSONValue)], _ request: AdminRequest
  ) throws(ConsoleFailure) -> [ApprovalRow] {
    (try ask("approvals-browse", arguments, request).array ?? []).compactMap { ApprovalRow($0.object) }
  }

  func approval(
    _ id: String, _ request: AdminRequest, _ problems: [FieldProblem] = []
  ) throws(ConsoleFailure) -> ApprovalPage {
    let found = try ask("approvals-look", [("id", .string(id))], request)
    guard let object = found.object, let row = ApprovalRow(object) else {
      throw .error(.notFound, "There is no such request.")
    }
    let lease = object["lease"]?.object
    return ApprovalPage(
      approval: row, text: object.text("text") ?? "", target: Self.pairs(object["target"]),
      requesterName: object.text("requester_name"), requesterAddress: object.text("requester_address"),
      level: object.text("level") ?? "", verification: object.text("uv") ?? "",
      factors: (object["factors"]?.array ?? []).compactMap(\.string), reason: object.text("reason"),
      votes: (object["votes"]?.array ?? []).compactMap { VoteRow($0.object) },
      operatorName: object["operator"]?.integer.map { "user \($0)" },
      lease: lease.flatMap { lease in
        lease.time("expires_at").map { LeaseRow(expiresAt: $0, usesLeft: lease.count("uses_left")) }
      },
      ownWord: Self.ownWord(object.text("own_word")), problems: problems)
  }

  private static func pairs(_ value: JSONValue?) -> [(name: String, value: String)] {
    (value?.array ?? []).compactMap { pair in
      guard let object = pair.object, let name = object.text("name"), let value = object.text("value") else {
        return nil
      }
      return (name, value)
    }
  }

  private static func ownWord(_ word: String?) -> ApprovalPage.OwnWord {
    switch word {
    case "awaited": .isAwaited
    case "not_asked_for": .isNotAskedFor
    case "own_request": .isOwnRequest
    case "given": .isGiven
    case "over": .isOver
    default: .isNoApprover
    }
  }
}

extension ApprovalRow {
  fileprivate init?(_ object: JSONObject?) {
    guard let object, let id = object.text("id"),
      let state = object.text("state").flatMap({ State(rawValue: $0) }),
      let createdAt = object.time("created_at"), let expiresAt = object.time("expires_at")
    else { return nil }
    self.init(
      id: id, state: state, operation: object.text("operation") ?? "",
      service: object.text("service") ?? "", requester: object.text("requester") ?? "",
      subject: object.text("subject"), createdAt: createdAt, expiresAt: expiresAt,
      decidedAt: object.time("decided_at"), approvals: object.count("approvals"),
      quorum: object.count("quorum"))
  }
}

extension VoteRow {
  fileprivate init?(_ object: JSONObject?) {
    guard let object, let device = object.text("device_id"), let at = object.time("at"),
      let decision = object.text("decision").flatMap({ Decision(rawValue: $0) })
    else { return nil }
    self.init(
      deviceID: device, deviceName: object.text("device_name"), decision: decision, at: at,
      level: object.text("level") ?? "", verification: object.text("uv") ?? "")
  }
}
