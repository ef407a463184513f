/// A description as bytes, in the first layout: at most `KeptDescription.codedLimit` of them, whatever it holds.
internal import Addresses
internal import Bytes
internal import System
internal import TelnetWire
internal import Time

extension KeptDescription {
  /// The room that a slot has for it.
  package static let codedLimit = SlotGeometry.coldWords * 8

  func coded() -> [UInt8] {
    guard ids.count <= Self.idsLimit, owed.count <= Self.owedLimit, charset.count <= Self.charsetLimit else {
      fatalError("KeptDescription: more than a slot has room for")
    }
    var fields = FieldWriter()
    fields.put(flags)
    fields.put(number)
    fields.put(startedAt.nanoseconds)
    fields.put(changedAt.nanoseconds)
    fields.put(leg)
    fields.put(UInt32(clamping: doubt))
    write(source, to: &fields)
    fields.put(UInt8(ids.count))
    for id in ids { fields.put(id) }
    credential.write(to: &fields)
    fields.put(short: charset)
    if let earlySize { write(earlySize, to: &fields) }
    fields.put(short: owed)
    if let client { fields.put(bare: client.coded(room: Self.codedLimit - fields.bytes.count)) }
    return fields.bytes
  }

  init(coded bytes: [UInt8]) throws(KeptError) {
    var fields = FieldReader(bytes)
    let flags = try fields.byte()
    guard flags & ~Flag.all == 0 else { throw .unfit(.flags) }
    let number = try fields.number(UInt64.self)
    let startedAt = MonotonicTime(nanoseconds: try fields.number())
    let changedAt = MonotonicTime(nanoseconds: try fields.number())
    let leg = try fields.number(UInt64.self)
    let doubt = Int(try fields.number(UInt32.self))
    let source = try Self.readSource(&fields)
    let count = Int(try fields.byte())
    guard (1...Self.idsLimit).contains(count) else { throw .unfit(.ids) }
    var ids: [Bytes32] = []
    for _ in 0..<count { ids.append(try fields.digest()) }
    let credential = try KeptCredential(from: &fields)
    self.init(
      ids: ids, credential: credential, number: number, startedAt: startedAt, changedAt: changedAt,
      source: source,
      leg: leg)
    self.doubt = doubt
    charset = try fields.short(.charset, limit: Self.charsetLimit)
    guard charset.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .unfit(.charset) }
    if flags & Flag.earlySize != 0 { earlySize = try TerminalSize(from: &fields) }
    owed = try fields.short(.owed, limit: Self.owedLimit)
    if flags & Flag.client != 0 { client = try ClientDescription(from: &fields) }
    owedEndsMessage = flags & Flag.owedEndsMessage != 0
    owedIsWhole = flags & Flag.owedIsWhole != 0
    if owed.isEmpty, owedEndsMessage || owedIsWhole { throw .unfit(.owed) }
    isTorn = flags & Flag.torn != 0
    isOver = flags & Flag.over != 0
    try fields.finish()
  }

  private enum Flag {
    static let over: UInt8 = 1
    static let torn: UInt8 = 2
    static let client: UInt8 = 4
    static let earlySize: UInt8 = 8
    static let owedEndsMessage: UInt8 = 16
    static let owedIsWhole: UInt8 = 32
    static let all: UInt8 = 63
  }

  private var flags: UInt8 {
    (isOver ? Flag.over : 0) | (isTorn ? Flag.torn : 0) | (client == nil ? 0 : Flag.client)
      | (earlySize == nil ? 0 : Flag.earlySize) | (owedEndsMessage ? Flag.owedEndsMessage : 0)
      | (owedIsWhole ? Flag.owedIsWhole : 0)
  }

  private func write(_ source: Endpoint, to fields: inout FieldWriter) {
    fields.put(short: source.address.networkBytes)
    fields.put(source.port)
  }

  private static func readSource(_ fields: inout FieldReader) throws(KeptError) -> Endpoint {
    let bytes = try fields.short(.source, limit: 16)
    guard let address = IPAddress(networkBytes: bytes.span) else { throw .unfit(.source) }
    return Endpoint(address: address, port: try fields.number())
  }

  private func write(_ size: TerminalSize, to fields: inout FieldWriter) {
    fields.put(size.columns)
    fields.put(size.rows)
  }
}

extension TerminalSize {
  init(from fields: inout FieldReader) throws(KeptError) {
    let columns = try fields.number(UInt16.self)
    self.init(columns: columns, rows: try fields.number(UInt16.self))
  }
}
