/// An app's JSON object as MSDP: members become variables, and numbers and literals their text. What it wants reported is
/// kept, and said when the game agrees to MSDP, first or anew.
internal import JSON

struct MSDPWriter: ~Escapable {
  private var reader: JSONReader
  private var names = SeenNames()
  private let charset: TelnetCharset
  private var body: [UInt8] = []
  /// What of it says what is to be reported.
  private var reports: [UInt8] = []

  @_lifetime(copy json)
  private init(_ json: Span<UInt8>, _ charset: TelnetCharset) {
    reader = JSONReader(json, depthLimit: MSDPByte.depthLimit + 1)
    self.charset = charset
  }

  /// Nil for what is no object or an empty one, nests deeper than 8 within it, has a string with one of the bytes that
  /// MSDP is made of, or NUL, or a name twice in an object.
  static func body(_ json: [UInt8], _ charset: TelnetCharset) -> (all: [UInt8], reports: [UInt8])? {
    var writer = Self(json.span, charset)
    do throws(JSONError) { try writer.writeVariables() } catch { return nil }
    return writer.body.isEmpty ? nil : (writer.body, writer.reports)
  }

  private mutating func writeVariables() throws(JSONError) {
    try reader.enterObject()
    var object = names.open()
    while let name = try reader.nextMember() {
      let start = body.count
      try writeMember(name, of: &object)
      if let short = reader.short(name), Self.reportingCommands.contains(short) { reports += body[start...] }
    }
    try reader.finish()
  }

  private mutating func writeMember(
    _ name: JSONReader.Text, of object: inout SeenNames.Object
  ) throws(JSONError) {
    guard names.insert(name, of: &object, in: reader) else {
      throw JSONError(.duplicateName, at: name.range.lowerBound)
    }
    body.append(MSDPByte.variable)
    try write(name)
    body.append(MSDPByte.value)
    try writeValue()
  }

  private mutating func writeValue() throws(JSONError) {
    guard let first = reader.peek() else { throw JSONError(.unexpectedEnd, at: reader.position) }
    switch first {
    case UInt8(ascii: "{"):
      try reader.enterObject()
      body.append(MSDPByte.tableOpen)
      var object = names.open()
      while let name = try reader.nextMember() { try writeMember(name, of: &object) }
      names.close(object)
      body.append(MSDPByte.tableClose)
    case UInt8(ascii: "["):
      try reader.enterArray()
      body.append(MSDPByte.arrayOpen)
      while try reader.nextElement() {
        body.append(MSDPByte.value)
        try writeValue()
      }
      body.append(MSDPByte.arrayClose)
    case UInt8(ascii: "\""):
      let text = try reader.readString()
      try write(text)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let number = try reader.readNumber()
      reader.append(number, to: &body)
    default:
      switch try reader.readLiteral() {
      case .true: body.append(UInt8(ascii: "1"))
      case .false: body.append(UInt8(ascii: "0"))
      case .null: break
      }
    }
  }

  private mutating func write(_ text: JSONReader.Text) throws(JSONError) {
    let start = body.count
    reader.append(text, to: &body)
    for index in start..<body.count where body[index] <= MSDPByte.arrayClose {
      throw JSONError(.unsuitable, at: text.range.lowerBound)
    }
    if charset.isUTF8 { return }
    let encoded = charset.encode(Array(body[start...]))
    body.replaceSubrange(start..., with: encoded)
  }

  private static let reportingCommands = ["REPORT", "UNREPORT", "RESET"].map(JSONReader.ShortText.init)
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
