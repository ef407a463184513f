/// What an operator asks of the audit: `audit list`, `export`, `verify`, `prune`. Long ones go on piece by piece, so that
/// others have their turn.
internal import Bytes
internal import Crypto
internal import DeviceTokens
internal import DeviceWire
package import JSON
internal import PortcullisProtocol
internal import System

enum AuditOrders {
  static let longestPage: Int64 = 1000
}

/// A page of rows in their order, from after one of them on.
package struct ReadAudit: AnsweringCall {
  package typealias Answer = AuditRows

  private let after: Int64
  private let limit: Int
  private let form: AuditRows.Form

  /// Rows for an export.
  package init(exportingAfter after: Int64) {
    self.after = after
    limit = Int(AuditOrders.longestPage)
    form = .export
  }

  init(_ arguments: OrderArguments, as form: AuditRows.Form) throws(FormError) {
    after = try arguments.optionalInteger("after") ?? 0
    let limit = try arguments.optionalInteger("limit") ?? AuditOrders.longestPage
    guard (1...AuditOrders.longestPage).contains(limit) else { throw FormError("limit") }
    self.limit = Int(limit)
    self.form = form
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let rows = try transaction.store.auditRows(after: after, limit: limit)
    return .reply(.value(AuditRows(rows: rows, form: form)))
  }
}

package struct AuditRows: RegistryAnswer {
  package enum Form: Sendable {
    case list
    case export
  }

  package let rows: [AuditRow]
  let form: Form

  package func write(to json: inout JSONWriter) {
    json.beginArray()
    for row in rows {
      switch form {
      case .list: row.list(to: &json)
      case .export: row.export(to: &json)
      }
    }
    json.endArray()
  }
}

extension AuditRow {
  /// What its text says; nil where that was erased.
  package var object: JSONObject? {
    guard case .text(let text, _) = content else { return nil }
    return (try? JSONValue(parsing: text.span, depthLimit: 4))?.object
  }

  /// The number, and what the text says.
  func list(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("seq")
    writer.value(sequence)
    if let object {
      for member in object.members where member.name != "seq" {
        writer.name(member.name)
        writer.value(member.value)
      }
    } else {
      writer.name("at")
      writer.value(at.value)
      writer.name("event")
      writer.value("erased")
    }
    writer.endObject()
  }
}

/// Follows the chain from the first row that is kept to the last.
package struct VerifyAudit: AnsweringCall {
  package typealias Answer = AuditReport
  private static let piece = 2000

  private let head: AuditHead?
  private var verifier: AuditVerifier?

  /// Of the chain as it is, whatever was signed of it.
  package init() {
    head = nil
  }

  init(_ arguments: OrderArguments) throws(FormError) {
    let line = try arguments.optionalText("head")
    head = line.flatMap { line in AuditHead(logLine: Array(line.utf8)) }
    if line != nil, head == nil { throw FormError("head") }
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var next = self
    var verifier: AuditVerifier
    if let begun = self.verifier {
      verifier = begun
    } else {
      guard try isHeadSigned(transaction) else { return answer(.signature, nil) }
      let beginning = try transaction.store.auditBeginning()
      verifier = AuditVerifier(from: beginning, through: head?.end)
    }
    let rows = try transaction.store.auditRows(after: verifier.end.sequence, limit: Self.piece)
    do throws(AuditVerifier.Fault) {
      for row in rows { try verifier.follow(row) }
      if rows.count < Self.piece {
        try verifier.finish()
        return answer(nil, verifier)
      }
    } catch {
      return answer(error, verifier)
    }
    next.verifier = verifier
    return .goOn(next)
  }

  /// By a key that signs, or has signed, in this store.
  private func isHeadSigned(_ transaction: Transaction) throws(CallFailure) -> Bool {
    guard let head else { return true }
    guard let thumbprint = KeyThumbprint(head.keyID) else { return false }
    let point = try transaction.store.tokenKey(thumbprint)
    guard let point else { return false }
    return head.isSigned(by: point, of: transaction.server, transaction.verifier)
  }

  private func answer(_ fault: AuditVerifier.Fault?, _ verifier: AuditVerifier?) -> Outcome {
    .reply(.value(AuditReport(fault, verifier, head: head)))
  }
}

/// Throws away rows of before a time, and says so in the audit: first of all which is the last of them, so that nobody can
/// throw away others without a word.
struct PruneAudit: RegistryCall {
  private static let piece = 2000

  /// Unix seconds.
  let before: Int64
  /// The last row that is to go; nil until it is known.
  private var last: AuditEnd?
  private var count = 0

  init(before: Int64) {
    self.before = before
  }

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var next = self
    if last == nil {
      next.last = try transaction.store.auditEnd(before: before)
      if let found = next.last { try transaction.record(.pruned, [.number("before", before)] + found.named) }
    }
    guard let last = next.last else { return .reply(answer) }
    let thrown = try transaction.store.pruneAudit(through: last.sequence, limit: Self.piece)
    next.count += thrown
    if thrown == Self.piece { return .goOn(next) }
    transaction.announce(.erased)
    return .erased(next.answer)
  }

  private var answer: Reply {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("rows")
    writer.value(count)
    writer.endObject()
    return .answered(writer.bytes)
  }
}
