/// Reads the key file piece by piece, a member at a time, straight into the table (docs/key-store.md, "Snapshot").
internal import Bytes
internal import Identity
internal import JSON
internal import System
internal import Time

struct SnapshotDamage: Error, Equatable {
  /// In the file.
  let offset: Int64
  let reason: String
}

struct SnapshotParser {
  private enum State {
    case start
    case members(hasMembers: Bool)
    case ended
  }

  private var state = State.start
  /// Of the first byte of the next piece.
  private(set) var offset: Int64 = 0
  private var times = TimestampText()
  private var scratch: [UInt8] = []
  /// Why the last `.unsuitable` was thrown.
  private var unsuitable = ""
  private(set) var unknownEnvironments = 0

  /// Takes as many whole members as `bytes` holds; the caller passes the rest again, followed by more of the file.
  /// - Parameter isLast: nothing will follow.
  /// - Returns: how many bytes were taken.
  mutating func parse(
    _ bytes: Span<UInt8>, isLast: Bool, into table: inout KeyTable
  ) throws(SnapshotDamage) -> Int {
    var taken = 0
    do {
      while try step(bytes, isLast: isLast, &taken, &table) {}
    } catch {
      // Half a member at a piece's end is not damage: it comes again, whole.
      if error.rule != .unexpectedEnd || isLast {
        let reason = error.rule == .unsuitable ? unsuitable : error.rule.rawValue
        throw SnapshotDamage(offset: offset + Int64(error.offset), reason: reason)
      }
    }
    offset += Int64(taken)
    return taken
  }

  /// One thing on the way from start to end. False when nothing is left to be taken.
  private mutating func step(
    _ bytes: Span<UInt8>, isLast: Bool, _ taken: inout Int, _ table: inout KeyTable
  ) throws(JSONError) -> Bool {
    var reader = JSONReader(bytes, from: taken, depthLimit: Self.depthLimit)
    switch state {
    case .start:
      // An empty file is an empty store.
      if reader.peek() == nil, isLast {
        state = .ended
      } else {
        try reader.enterObject()
        state = .members(hasMembers: false)
      }
    case .members(let hasMembers):
      reader.resumeObject(hasMembers: hasMembers)
      if let name = try reader.nextMember() {
        try readMember(name, bytes, &reader, &table)
        state = .members(hasMembers: true)
      } else {
        state = .ended
      }
    case .ended:
      try reader.finish()
      taken = reader.position
      return false
    }
    taken = reader.position
    return true
  }

  private mutating func readMember(
    _ name: JSONReader.Text, _ bytes: Span<UInt8>, _ reader: inout JSONReader, _ table: inout KeyTable
  ) throws(JSONError) {
    if reader.matches(name, SnapshotText.pseudonymKeyMadeAtName) {
      let time = try readTime(bytes, &reader)
      guard table.pseudonymKeyMadeAt == KeyTable.Entry.never else {
        throw JSONError(.duplicateName, at: name.range.lowerBound)
      }
      table.pseudonymKeyMadeAt = time
      return
    }
    let text = name.isEscaped ? reader.unescaped(name) : []
    let digest =
      name.isEscaped
      ? KeyIdentifier(base64: text.span) : KeyIdentifier(base64: bytes.extracting(name.range))
    // Read to its end before it is judged: half a member at a piece's end is not damage.
    let fields = try readFields(bytes, &reader, &table)
    let start = name.range.lowerBound
    guard let identifier = digest else { throw refusal(start, "the name is not the base64 of 32 bytes") }
    guard let publicKey = fields.publicKey else { throw refusal(start, "publicKey is missing") }
    guard let signCount = fields.signCount else { throw refusal(start, "signCount is missing") }
    guard let registeredAt = fields.registeredAt else { throw refusal(start, "registeredAt is missing") }
    let origin = try origin(fields, at: start)
    guard table.position(of: identifier) == nil else { throw refusal(start, "the key is there twice") }
    if fields.environment == nil { unknownEnvironments += 1 }
    table.insert(
      KeyTable.Entry(
        identifier: identifier, publicKey: publicKey, registeredAt: registeredAt,
        lastUsedAt: fields.lastUsedAt ?? fields.lastAssertedAt ?? KeyTable.Entry.never,
        revokedAt: fields.revokedAt ?? KeyTable.Entry.never, signCount: signCount, appID: fields.appID,
        bundleVersion: fields.bundleVersion,
        revokedReason: fields.revokedReason,
        origin: origin, environment: fields.environment))
    if !fields.extra.isEmpty { table.extras[identifier] = fields.extra }
  }

  /// Half of what is said of an imported key might have it good for ever.
  private mutating func origin(_ fields: Fields, at start: Int) throws(JSONError) -> KeyTable.Entry.Origin {
    switch (fields.importedFrom, fields.goodUntil) {
    case (nil, nil): return fields.validationCategory.map { .attestedWith(category: $0) } ?? .attested
    case (let source?, let time?):
      guard fields.validationCategory == nil else {
        throw refusal(start, "importedFrom and validationCategory exclude each other")
      }
      let imported = KeyImport(from: source, until: UnixTime(milliseconds: time))
      return .imported(imported.source, until: imported.untilSecond)
    case (_?, nil), (nil, _?): throw refusal(start, "importedFrom and goodUntil come together")
    }
  }

  private mutating func refusal(_ offset: Int, _ reason: String) -> JSONError {
    unsuitable = reason
    return JSONError(.unsuitable, at: offset)
  }

  // MARK: A record's members

  private struct Fields {
    var publicKey: P256Point?
    var signCount: UInt32?
    var registeredAt: Int64?
    var lastUsedAt: Int64?
    var lastAssertedAt: Int64?
    var appID: UInt32 = 0
    var environment: AttestEnvironment?
    var validationCategory: UInt32?
    var bundleVersion: UInt32 = 0
    var revokedAt: Int64?
    var revokedReason: UInt32 = 0
    var importedFrom: KeySource?
    var goodUntil: Int64?
    var extra: [UInt8] = []
  }

  private enum Member: UInt16, CaseIterable {
    case publicKey, signCount, registeredAt, lastUsedAt, appId, environment, validationCategory, bundleVersion
    case revokedAt, revokedReason, importedFrom, goodUntil
  }

  private mutating func readFields(
    _ bytes: Span<UInt8>, _ reader: inout JSONReader, _ table: inout KeyTable
  ) throws(JSONError) -> Fields {
    var fields = Fields()
    var seen: UInt16 = 0
    var others = SeenNames()
    var object = others.open()
    try reader.enterObject()
    while let name = try reader.nextMember() {
      guard let member = Self.member(name, reader) else {
        guard others.insert(name, of: &object, in: reader) else {
          throw JSONError(.duplicateName, at: name.range.lowerBound)
        }
        try keep(name, bytes, &reader, &fields)
        continue
      }
      guard seen & 1 << member.rawValue == 0 else {
        throw JSONError(.duplicateName, at: name.range.lowerBound)
      }
      seen |= 1 << member.rawValue
      // `null` counts as absent, except for the three members that every record must have.
      if member.rawValue > Member.registeredAt.rawValue, reader.peek() == UInt8(ascii: "n") {
        _ = try reader.readLiteral()
        continue
      }
      try read(member, bytes, &reader, &fields, &table)
    }
    return fields
  }

  private mutating func read(
    _ member: Member, _ bytes: Span<UInt8>, _ reader: inout JSONReader, _ fields: inout Fields,
    _ table: inout KeyTable
  ) throws(JSONError) {
    switch member {
    case .publicKey: fields.publicKey = try readPoint(bytes, &reader)
    case .signCount: fields.signCount = try readNumber(bytes, &reader)
    case .registeredAt: fields.registeredAt = try readTime(bytes, &reader)
    case .lastUsedAt: fields.lastUsedAt = try readTime(bytes, &reader)
    case .appId: fields.appID = try readName(bytes, &reader, &table.appIDs)
    case .environment:
      let start = reader.position
      let text = try reader.readString()
      guard let known = Self.environments.first(where: { reader.matches(text, $0.name) }) else {
        // Taken for unknown, it would be accepted in every environment.
        throw refusal(start, "environment is neither production nor development")
      }
      fields.environment = known.environment
    case .validationCategory: fields.validationCategory = try readNumber(bytes, &reader)
    case .bundleVersion: fields.bundleVersion = try readName(bytes, &reader, &table.bundleVersions)
    case .revokedAt: fields.revokedAt = try readTime(bytes, &reader)
    case .importedFrom:
      let start = reader.position
      guard let source = KeySource(rawValue: reader.string(try reader.readString())) else {
        throw refusal(start, "importedFrom names no gate that keys are taken from")
      }
      fields.importedFrom = source
    case .goodUntil: fields.goodUntil = try readTime(bytes, &reader)
    case .revokedReason: fields.revokedReason = try readName(bytes, &reader, &table.revokedReasons)
    }
  }

  /// Keeps a member that this program does not know. In one older layout `lastAssertedAt` says when the key was last
  /// used: it is read as well, so that pruning does not remove a key that is in use.
  private mutating func keep(
    _ name: JSONReader.Text, _ bytes: Span<UInt8>, _ reader: inout JSONReader, _ fields: inout Fields
  ) throws(JSONError) {
    let isTime = reader.matches(name, Self.lastAssertedAt) && reader.peek() == UInt8(ascii: "\"")
    let value = try reader.skipValue()
    if isTime {
      fields.lastAssertedAt = times.parse(bytes.extracting(value.lowerBound + 1..<value.upperBound - 1))
    }
    fields.extra += [UInt8(ascii: ","), UInt8(ascii: "\"")] + reader.raw(name.range)
    fields.extra += [UInt8(ascii: "\""), UInt8(ascii: ":")] + reader.compact(value)
  }

  private static func member(_ name: JSONReader.Text, _ reader: borrowing JSONReader) -> Member? {
    for (index, text) in memberNames.enumerated() where reader.matches(name, text) {
      return Member(rawValue: UInt16(index))
    }
    return nil
  }

  // MARK: Values

  private func readName(
    _ bytes: Span<UInt8>, _ reader: inout JSONReader, _ names: inout Names
  ) throws(JSONError) -> UInt32 {
    let text = try reader.readString()
    return text.isEscaped
      ? names.number(of: reader.string(text)) : names.number(of: bytes.extracting(text.range))
  }

  private mutating func readNumber(_ bytes: Span<UInt8>, _ reader: inout JSONReader) throws(JSONError)
    -> UInt32
  {
    let range = try reader.readNumber()
    // A number at the end of a piece may go on in the next one.
    guard range.upperBound < bytes.count else { throw JSONError(.unexpectedEnd, at: range.upperBound) }
    var value: UInt64 = 0
    for index in range {
      let digit = bytes[index]
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9"), range.count <= 10 else {
        throw refusal(range.lowerBound, "not a whole number of 32 bits")
      }
      value = value * 10 + UInt64(digit - UInt8(ascii: "0"))
    }
    guard let number = UInt32(exactly: value) else {
      throw refusal(range.lowerBound, "not a whole number of 32 bits")
    }
    return number
  }

  private mutating func readTime(_ bytes: Span<UInt8>, _ reader: inout JSONReader) throws(JSONError) -> Int64
  {
    let text = try reader.readString()
    guard let time = times.parse(bytes.extracting(text.range)) else {
      throw refusal(text.range.lowerBound, "not a timestamp of RFC 3339")
    }
    return time
  }

  private mutating func readPoint(_ bytes: Span<UInt8>, _ reader: inout JSONReader) throws(JSONError)
    -> P256Point
  {
    let text = try reader.readString()
    if let point = quickPoint(bytes.extracting(text.range)) { return point }
    let pem = reader.unescaped(text)
    guard let point = P256Point(pem: pem.span) else {
      throw refusal(text.range.lowerBound, "not the PEM of a P-256 public key")
    }
    return point
  }

  /// Of the one spelling that this program writes; nil for any other.
  private mutating func quickPoint(_ text: Span<UInt8>) -> P256Point? {
    guard text.count == PublicKeyText.length, starts(text, at: 0, with: PublicKeyText.head) else {
      return nil
    }
    let first = PublicKeyText.head.count
    let lineFeed = first + PublicKeyText.digitsOnFirstLine
    let second = lineFeed + PublicKeyText.lineFeed.count
    let tail = first + PublicKeyText.digits + PublicKeyText.lineFeed.count
    guard starts(text, at: lineFeed, with: PublicKeyText.lineFeed),
      starts(text, at: tail, with: PublicKeyText.tail)
    else { return nil }
    scratch.removeAll(keepingCapacity: true)
    scratch.append(copying: text.extracting(first..<lineFeed))
    scratch.append(copying: text.extracting(second..<tail))
    guard let point = Base64.decode(scratch.span), point.count == 64,
      let x = Bytes32(point.span.extracting(..<32)), let y = Bytes32(point.span.extracting(32...))
    else { return nil }
    return P256Point(x: x, y: y)
  }

  private func starts(_ text: Span<UInt8>, at start: Int, with expected: [UInt8]) -> Bool {
    for index in expected.indices where text[start + index] != expected[index] { return false }
    return true
  }

  private static let depthLimit = 32
  private static let memberNames = Member.allCases.map { Array("\($0)".utf8) }
  private static let environments = [AttestEnvironment.production, .development, nil].map {
    (environment: $0, name: Array(($0?.rawValue ?? KeyRecord.unknownEnvironment).utf8))
  }
  private static let lastAssertedAt = Array("lastAssertedAt".utf8)
}
