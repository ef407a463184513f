/// What an operator is told of an order's argument that is of no use: the command and the option as he has typed them, the
/// value, and what is allowed (docs/running.md, "Control socket").
import Bytes
import JSON
import Registry

enum OrderWords {
  /// - Parameter argument: the one that is missing, too many, or of no use.
  static func refusal(_ verb: OperatorVerb, _ argument: String, _ value: JSONValue?) -> String {
    let command = command(verb)
    let name = PrintableText.field(argument, limit: 64)
    let option = positional[verb] == argument || argument == "id" ? name.uppercased() : "--\(name)"
    let allowed = allowed(verb, argument) ?? "portcullis \(command) --help says what it takes"
    guard let value else { return "\(command): \(option) is missing: \(allowed)" }
    return "\(command): \(option) \(shown(value)) is not allowed: \(allowed)"
  }

  /// A verb is the command's words with hyphens between, where it has a command at all.
  static func command(_ verb: OperatorVerb) -> String {
    switch verb {
    case .pairOpen, .pairStatus, .pairConfirm, .pairBurn: "devices pair"
    case .barsList: "approvals list --barred"
    case .barsLift: "approvals unbar"
    case .approvalsLook: "approvals show"
    case .devicesAssign, .devicesRename, .devicesExcept: "devices set"
    case .devicesEnd: "devices forget"
    case .devicesList, .devicesShow, .devicesBrowse, .devicesNames, .devicesLook, .devicesConfirm,
      .devicesRevoke, .devicesForget, .devicesUnlock, .devicesRotateTokenKeys, .devicesBackup, .pairBrowse,
      .servicesList, .servicesAdd, .servicesRotate, .servicesRevoke, .approvalsRequest, .approvalsList,
      .approvalsShow, .approvalsBrowse, .approvalsApprove, .approvalsDeny, .approvalsCancel, .auditList,
      .auditExport, .auditSearch, .auditVerify, .auditPrune:
      verb.rawValue.replacing("-", with: " ", maxReplacements: 1)
    }
  }

  /// Arguments that are typed without an option's name; `id` always is.
  private static let positional: [OperatorVerb: String] = [
    .devicesUnlock: "subject",
    .devicesBackup: "name",
    .servicesAdd: "name", .servicesRotate: "name", .servicesRevoke: "name",
  ]

  private static let text = "write 1 to 128 bytes on one line, without control characters"
  private static let scopes: ServiceScopes = [.approvals, .codes, .presence, .pairings, .devicesRead]

  private static func allowed(_ verb: OperatorVerb, _ argument: String) -> String? {
    switch (verb, argument) {
    case (_, "id") where verb.part == .approvals: "write an id as approvals list shows it"
    case (_, "id"): "write an id as devices list shows it"
    case (.devicesBackup, "name"):
      "name a file without a folder, of at most 128 letters, digits and + - . : _; it is written beside the store"
    case (_, "name") where verb.part == .services:
      "write 1 to 64 letters, digits and . _ -; the name host is taken"
    case (_, "name"), (_, "subject"), (_, "site"), (_, "subjects"), (_, "reason"): text
    case (_, "scopes"): "write one or more of \(scopes.words.joined(separator: ", ")), with commas between"
    case (_, "lacks"): "write one or more of \(DeviceLack.allCases.map(\.rawValue).joined(separator: ", "))"
    case (.devicesList, "state"): "write \(DeviceState.allCases.map(\.rawValue).joined(separator: ", "))"
    case (.approvalsList, "state"):
      "write \(ApprovalState.allCases.map(\.rawValue).joined(separator: ", "))"
    case (_, "target"): "write --target name=value, once for each name, with 1 to 64 bytes for a name"
    case (.auditVerify, "head"): "name a log with a whole line audit_head of this gate"
    case (_, "until"): "write a day before the year 10000, such as 2027-01-31"
    case (_, "sas"): "type the six digits that the phone shows"
    default: nil
    }
  }

  private static func shown(_ value: JSONValue) -> String {
    switch value {
    case .string(let text): return PrintableText.field(text, limit: 128)
    case .array(let values) where !values.contains(where: { $0.string == nil }):
      return PrintableText.field(values.compactMap(\.string).joined(separator: ","), limit: 128)
    default:
      var writer = JSONWriter()
      writer.value(value)
      return PrintableText.field(String(decoding: writer.bytes, as: UTF8.self), limit: 128)
    }
  }
}
