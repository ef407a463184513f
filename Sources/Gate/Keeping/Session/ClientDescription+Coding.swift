/// What an app says of itself, as bytes: all of it, or what there is room for.
internal import TelnetWire

extension ClientDescription {
  /// Without its GMCP packages, or its texts as well, where it would be longer than `room`; 6 bytes in any case.
  func coded(room: Int) -> [UInt8] {
    var shorter = self
    for step in 0..<3 {
      if step == 1 { shorter.gmcp = nil }
      if step == 2 { (shorter.name, shorter.version, shorter.terminal) = (nil, nil, nil) }
      let bytes = shorter.coded()
      if bytes.count <= room { return bytes }
    }
    fatalError("ClientDescription: no room for a size")
  }

  func coded() -> [UInt8] {
    var fields = FieldWriter()
    fields.put(flags)
    if let size {
      fields.put(size.columns)
      fields.put(size.rows)
    }
    for text in [name, version, terminal] { if let text { fields.put(short: text.bytes) } }
    if let gmcp {
      fields.put(UInt16(gmcp.count))
      for package in gmcp {
        fields.put(UInt16(package.count))
        fields.put(bare: package)
      }
    }
    return fields.bytes
  }

  init(from fields: inout FieldReader) throws(KeptError) {
    self.init()
    let flags = try fields.byte()
    guard flags & ~Flag.all == 0 else { throw .unfit(.client) }
    hasTrueColor = flags & Flag.trueColor != 0
    isScreenReader = flags & Flag.screenReader != 0
    if flags & Flag.size != 0 { size = try TerminalSize(from: &fields) }
    if flags & Flag.name != 0 { name = try Self.text(&fields) }
    if flags & Flag.version != 0 { version = try Self.text(&fields) }
    if flags & Flag.terminal != 0 { terminal = try Self.text(&fields) }
    if flags & Flag.gmcp != 0 { gmcp = try Self.packages(&fields) }
    guard keptBytes <= Self.keptBytesLimit else { throw .unfit(.client) }
  }

  private static func text(_ fields: inout FieldReader) throws(KeptError) -> ClientText {
    guard let text = ClientText(try fields.short(.client, limit: ClientText.byteLimit)) else {
      throw .unfit(.client)
    }
    return text
  }

  private static func packages(_ fields: inout FieldReader) throws(KeptError) -> [[UInt8]] {
    let count = Int(try fields.number(UInt16.self))
    guard count <= keptBytesLimit else { throw .unfit(.client) }
    var packages: [[UInt8]] = []
    for _ in 0..<count {
      let package = try fields.take(Int(try fields.number(UInt16.self)))
      guard String(validating: package, as: UTF8.self) != nil else { throw .unfit(.client) }
      packages.append(package)
    }
    return packages
  }

  private enum Flag {
    static let trueColor: UInt8 = 1
    static let screenReader: UInt8 = 2
    static let size: UInt8 = 4
    static let name: UInt8 = 8
    static let version: UInt8 = 16
    static let terminal: UInt8 = 32
    static let gmcp: UInt8 = 64
    static let all: UInt8 = 127
  }

  private var flags: UInt8 {
    var flags: UInt8 = 0
    if hasTrueColor { flags |= Flag.trueColor }
    if isScreenReader { flags |= Flag.screenReader }
    if size != nil { flags |= Flag.size }
    if name != nil { flags |= Flag.name }
    if version != nil { flags |= Flag.version }
    if terminal != nil { flags |= Flag.terminal }
    if gmcp != nil { flags |= Flag.gmcp }
    return flags
  }
}
