/// An app's JSON object as MSDP: members become variables, and numbers and literals their text. What it wants reported is
/// kept, and said when the game agrees to MSDP, first or anew.
internal import JSON

struct MSDPWriter {
  /// Why a message cannot be said in MSDP.
  private struct Unfit: Error {}

  private let charset: TelnetCharset
  private var body: [UInt8] = []
  /// What of it says what is to be reported.
  private var reports: [UInt8] = []

  private init(_ charset: TelnetCharset) {
    self.charset = charset
  }

  /// Nil for what is no object or an empty one, nests deeper than 8 within it, or has a string with one of the bytes
  /// that MSDP is made of, or NUL.
  static func body(_ json: [UInt8], _ charset: TelnetCharset) -> (all: [UInt8], reports: [UInt8])? {
    guard
      let value = try? JSONValue(parsing: json.span, depthLimit: MSDPByte.depthLimit + 1),
      let object = value.object, !object.members.isEmpty
    else { return nil }
    var writer = Self(charset)
    do throws(Unfit) { try writer.writeVariables(object) } catch { return nil }
    return (writer.body, writer.reports)
  }

  private mutating func writeVariables(_ object: JSONObject) throws(Unfit) {
    for member in object.members {
      let start = body.count
      try write(member)
      if Self.reportingCommands.contains(member.name) { reports += body[start...] }
    }
  }

  private mutating func write(_ member: JSONObject.Member) throws(Unfit) {
    body.append(MSDPByte.variable)
    try write(member.name)
    body.append(MSDPByte.value)
    try write(member.value)
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
      for member in object.members { try write(member) }
      body.append(MSDPByte.tableClose)
    }
  }

  private mutating func write(_ string: String) throws(Unfit) {
    guard string.utf8.allSatisfy({ $0 > MSDPByte.arrayClose }) else { throw Unfit() }
    body += charset.encode(Array(string.utf8))
  }

  private static let reportingCommands = ["REPORT", "UNREPORT", "RESET"]
}

extension TelnetEngine {
  /// - Parameter object: a JSON object of variables, not empty.
  package mutating func sendMSDP(_ object: [UInt8], into output: inout [UInt8]) -> Sending {
    guard let (body, reports) = MSDPWriter.body(object, charset) else { return .unfit }
    if !reports.isEmpty { ownWords.keep(report: reports) }
    guard isMSDPAgreed else { return .notAgreed }
    TelnetWriter.subnegotiation(.msdp, body, to: &output)
    return .sent
  }

  func sayReports(_ output: inout [UInt8]) {
    for body in ownWords.reports { TelnetWriter.subnegotiation(.msdp, body, to: &output) }
  }
}
