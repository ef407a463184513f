/// A row of the audit as `audit export` writes it, and the chain followed over such rows without a gate
/// (docs/devices-operating.md, "The audit").
internal import Bytes
internal import DeviceWire
package import JSON

extension AuditRow {
  /// All that is needed to follow the chain elsewhere: the text as the string whose UTF-8 is hashed, bytes in hex.
  package func export(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("gate")
    writer.value(AuditHead.gate)
    writer.name("seq")
    writer.value(sequence)
    writer.name("at")
    writer.value(at.value)
    switch content {
    case .text(let text, let salt):
      writer.name("text")
      writer.value(String(decoding: text, as: UTF8.self))
      writer.name("salt")
      writer.value(Hex.encode(salt.span))
    case .erased(let digest):
      writer.name("digest")
      writer.value(digest.hex)
    }
    writer.name("hash")
    writer.value(hash.hex)
    writer.endObject()
  }

  /// From a line of an export; nil for anything else.
  package init?(exported line: [UInt8]) {
    guard let object = (try? JSONValue(parsing: line.span, depthLimit: 4))?.object,
      let sequence = object["seq"]?.integer, sequence > 0, sequence < .max,
      let at = object["at"]?.integer.flatMap({ UnixSeconds($0) }),
      let hash = object["hash"]?.string.flatMap({ Bytes32(hex: $0) })
    else { return nil }
    let content: Content
    switch (object["text"]?.string, object["salt"]?.string, object["digest"]?.string) {
    case (let text?, let salt?, nil):
      guard let salt = Hex.decode(Array(salt.utf8).span) else { return nil }
      content = .text(Array(text.utf8), salt: salt)
    case (nil, nil, let digest?):
      guard let digest = Bytes32(hex: digest) else { return nil }
      content = .erased(digest)
    default: return nil
    }
    self.init(sequence: sequence, at: at, content: content, hash: hash)
  }
}

/// Where an export begins: looked for in all its rows before the chain is followed, as a row behind may name what was thrown
/// away before the first.
package struct AuditExportBeginning: Sendable {
  private var first: AuditRow?
  private var pruned: [Int64: AuditEnd] = [:]

  package init() {}

  package mutating func look(at row: AuditRow) {
    if first == nil { first = row }
    if let end = AuditVerifier.pruned(by: row) { pruned[end.sequence] = end }
  }

  /// A beginning that no row names is that of its first row, whose hash is taken as it is.
  package func verifier(through head: AuditEnd?) -> AuditVerifier {
    guard let first, first.sequence > 1 else { return AuditVerifier(from: .beginning, through: head) }
    if let before = pruned[first.sequence - 1] { return AuditVerifier(from: before, through: head) }
    return AuditVerifier(from: AuditEnd(sequence: first.sequence, hash: first.hash), through: head)
  }
}

extension AuditVerifier {
  /// As `follow`; the first row may be the one that the chain begins with.
  package mutating func follow(exported row: AuditRow) throws(Fault) {
    if rows == 0, row.sequence == end.sequence, row.hash == end.hash { return }
    try follow(row)
  }
}

/// What `audit verify` answers.
package struct AuditReport: RegistryAnswer {
  /// Nil where the chain holds.
  package let fault: AuditVerifier.Fault?
  /// As far as the rows were followed; nil where none was.
  package let verifier: AuditVerifier?
  private let head: AuditHead?

  package init(_ fault: AuditVerifier.Fault?, _ verifier: AuditVerifier?, head: AuditHead?) {
    self.fault = fault
    self.verifier = verifier
    self.head = head
  }

  package func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("valid")
    json.value(fault == nil)
    if let fault { json.member("fault", fault.rawValue) }
    if let verifier {
      json.name("rows")
      json.value(verifier.rows)
      json.name("erased")
      json.value(verifier.erased)
      // The last row that is in order.
      json.member("seq", verifier.end.sequence)
      json.member("hash", verifier.end.hash.hex)
    }
    if let head { json.member("kid", head.keyID) }
    json.endObject()
  }
}
