/// An app's JSON object as MSDP: members become variables, and numbers and literals their text. What it wants reported is
/// kept, and said when the game agrees to MSDP, first or anew.
internal import JSON

struct MSDPWriter {
  /// Why a message cannot be said in MSDP.
  private struct Unfit: Error {}

  private let charset: TelnetCharset
  private var body: [UInt8] = []

  private init(_ charset: TelnetCharset) {
    self.charset = charset
  }

  /// Nil for what is no object or an empty one, nests deeper than 8 within it, or has a string with one of the bytes
  /// that MSDP is made of, or NUL.
  static func body(_ json: [UInt8], _ charset: TelnetCharset) -> [UInt8]? {
    guard
      let value = try? JSONValue(parsing: json.span, depthLimit: MSDPByte.depthLimit + 1),
      let object = value.object, !object.members.isEmpty
    else { return nil }
    var writer = Self(charset)
    do throws(Unfit) { try writer.writeMembers(object) } catch { return nil }
    return writer.body
  }

  private mutating func writeMembers(_ object: JSONObject) throws(Unfit) {
    for member in object.members {
      body.append(MSDPByte.variable)
      try write(member.name)
      body.append(MSDPByte.value)
      try write(member.value)
    }
  }

  private mutating func write(_ value: JSONValue) throws(Unfit) {
    switch value {
    case .null: break
    case .boolean(let boolean): body.append(UInt8(ascii: boolean ? "1" : "0"))
    case .number(let number): body += number.text.utf8
    case .string(let string): try write(string)
    case .array(let elements):
      body.append(MSDPByte.arrayOpen)
      for element in elements {
        body.append(MSDPByte.value)
        try write(element)
      }
      body.append(MSDPByte.arrayClose)
    case .object(let object):
      body.append(MSDPByte.tableOpen)
      try writeMembers(object)
      body.append(MSDPByte.tableClose)
    }
  }

  private mutating func write(_ string: String) throws(Unfit) {
    guard string.utf8.allSatisfy({ $0 > MSDPByte.arrayClose }) else { throw Unfit() }
    body += charset.encode(Array(string.utf8))
  }
}

extension TelnetEngine {
  /// - Parameter object: a JSON object of variables, not empty.
  package mutating func sendMSDP(_ object: [UInt8], into output: inout [UInt8]) -> Sending {
    guard let body = MSDPWriter.body(object, charset) else { return .unfit }
    if Self.isReporting(body) { ownWords.keep(report: body) }
    guard isMSDPAgreed else { return .notAgreed }
    TelnetWriter.subnegotiation(.msdp, body, to: &output)
    return .sent
  }

  func sayReports(_ output: inout [UInt8]) {
    for body in ownWords.reports { TelnetWriter.subnegotiation(.msdp, body, to: &output) }
  }

  /// Whether its first variable is one of the commands that say what is to be reported.
  private static func isReporting(_ body: [UInt8]) -> Bool {
    reportingCommands.contains { body.starts(with: [MSDPByte.variable] + $0 + [MSDPByte.value]) }
  }

  private static let reportingCommands = ["REPORT", "UNREPORT", "RESET"].map { Array($0.utf8) }
}
