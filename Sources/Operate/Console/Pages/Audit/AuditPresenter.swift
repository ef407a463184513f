/// What the page of the audit shows, and its export.
import Admin
import Bytes
import Control
import DeviceWire
import JSON
import Registry
import System
internal import Time

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
    let found = try ask(
      SearchAudit(
        event: filter.event, about: filter.about, times: day.map { $0.start.seconds..<$0.end.seconds },
        before: after, limit: ListEnd.rowsPerPage), request)
    return AuditPage(
      filter: filter, events: found.events,
      rows: try withServices(
        withDevices(found.rows.map { AuditLine($0) { name(ofUser: $0) } }, request), request),
      end: ListEnd(next: found.next.map { "\($0)" }, isFirst: after == nil), verification: verification)
  }

  /// With what the devices are called now.
  private func withDevices(_ rows: [AuditLine], _ request: AdminRequest) throws(ConsoleFailure) -> [AuditLine]
  {
    let ids = Set(rows.compactMap { $0.actor == nil ? $0.deviceID : nil }).compactMap { DeviceID($0) }
    if ids.isEmpty { return rows }
    let found = try ask(NameDevices(ids: ids, keys: []), request)
    let names = Dictionary(
      found.map { ($0.device.id.text, $0.device.name?.text) }, uniquingKeysWith: { first, _ in first })
    return rows.map { row in
      var row = row
      if let id = row.deviceID {
        row.deviceName = names[id] ?? nil
        // One that is forgotten has no page.
        if names[id] == nil { (row.deviceID, row.actor) = (nil, row.actor ?? "a device that is gone") }
      }
      return row
    }
  }

  /// With the names of services in place of their ids.
  private func withServices(_ rows: [AuditLine], _ request: AdminRequest) throws(ConsoleFailure)
    -> [AuditLine]
  {
    let leases = rows.filter { $0.isOfLeaseAlone }.compactMap { $0.text("approval_id") }
    guard !leases.isEmpty || rows.contains(where: { $0.text(AuditLine.serviceID) != nil }) else {
      return rows
    }
    let found = try ask(NameServices(askingFor: Set(leases).compactMap { ApprovalID($0) }), request)
    return rows.map { row in
      var row = row
      let id = row.text(AuditLine.serviceID)
      let name = id.map { found.names[$0] ?? String($0.prefix(8)) }
      let isDone = row.actor == nil && row.deviceID == nil
      if isDone {
        row.service = row.isOfLeaseAlone ? row.text("approval_id").flatMap { found.askers[$0] } : name
      }
      row.members = row.members.compactMap { member in
        guard member.name == AuditLine.serviceID else { return member }
        // By whom it was done is said already.
        return isDone ? nil : ("service", name ?? member.value)
      }
      return row
    }
  }

  func name(ofUser user: Int64) -> String {
    UInt32(exactly: user).flatMap { operators?.name(of: $0) } ?? "user \(user)"
  }

  private func verify(_ request: AdminRequest) -> AuditPage.Verification {
    switch sources.control.ask(VerifyAudit(), by: origin(of: request.actor)) {
    case .failure(let refusal): return .failed(reason: refusal.message)
    case .success(let report):
      guard let fault = report.fault else { return .holds(rows: report.verifier?.rows ?? 0) }
      return .broken(
        sequence: Int(clamping: report.verifier?.end.sequence ?? 0) + 1, reason: fault.rawValue)
    }
  }

  /// One JSON object a line, as `portcullis audit export` writes them.
  func exportAudit(_ request: AdminRequest) -> AdminAnswer {
    .stream(
      contentType: "application/jsonl; charset=utf-8", fileName: "portcullis-audit.jsonl",
      AuditLines { after in
        let call = ReadAudit(exportingAfter: after)
        guard case .success(let found) = self.sources.control.ask(call, by: self.origin(of: request.actor))
        else { return nil }
        return found.rows
      })
  }
}

/// Used by the slow thread alone.
private final class AuditLines: AdminBody, @unchecked Sendable {
  private let page: @Sendable (_ after: Int64) -> [AuditRow]?
  private var after: Int64? = 0

  init(page: @escaping @Sendable (_ after: Int64) -> [AuditRow]?) {
    self.page = page
  }

  func next() -> [UInt8]? {
    guard let after else { return nil }
    guard let rows = page(after) else {
      // The file says that it is not whole.
      self.after = nil
      return Array("{\"error\":\"the export ended here: the registry did not answer\"}\n".utf8)
    }
    self.after = rows.last?.sequence
    if rows.isEmpty { return nil }
    var lines: [UInt8] = []
    for row in rows {
      var writer = JSONWriter()
      row.export(to: &writer)
      lines += writer.bytes
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }
}

extension AuditLine {
  private static let heads: Set = ["seq", "at", "event", "actor"]

  fileprivate init(_ row: AuditRow, name: (_ user: Int64) -> String) {
    let object = row.object
    self.init(
      sequence: Int(clamping: row.sequence), at: object?.time("at") ?? UnixTime(row.at),
      event: object.map { $0.text("event") ?? "" } ?? "erased",
      actor: object?.text("actor") ?? object?["uid"]?.integer.map(name), deviceID: object.flatMap(Self.doer),
      members: (object?.members ?? []).filter { !Self.heads.contains($0.name) }.map { member in
        (member.name, Self.text(member.value))
      })
  }

  fileprivate static let serviceID = "service_id"

  fileprivate func text(_ name: String) -> String? { members.first { $0.name == name }?.value }

  /// A row that names the request which the lease is of, and not the service.
  fileprivate var isOfLeaseAlone: Bool {
    ["lease_used", "lease_ended"].contains(event) && actor == nil
  }

  /// What devices do themselves; of others the device is what it was done to.
  private static let ofDevices: Set = [
    "approval_code_wrong", "approval_voted", "attestation_failed", "code_issued", "device_attested",
    "device_enrolled", "device_reported", "device_rotated", "pairing_answered", "presence_proved",
    "requester_barred", "service_barred",
  ]

  private static func doer(_ row: JSONObject) -> String? {
    guard let event = row.text("event") else { return nil }
    // A service that asks about a device names both.
    let isRefusal = ["refused", "refused_more"].contains(event) && row[serviceID] == nil
    return isRefusal || ofDevices.contains(event) ? row.text("device_id") : nil
  }

  private static func text(_ value: JSONValue) -> String {
    if let text = value.string { return text }
    var writer = JSONWriter()
    writer.value(value)
    return writer.string
  }
}
