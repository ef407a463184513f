/// What the journal records, and what each fact does to the table: the same live and when replayed.
internal import Bytes
internal import Identity
internal import System
internal import Time

/// A change that must outlive the process. Replaying one that the snapshot holds already changes nothing, provided
/// that all later ones are replayed too: counters only rise, a revocation is never undone, and a key that a replayed
/// removal takes away is brought back by the registration that followed.
enum Fact: Equatable, Sendable {
  /// The whole record as it was after registering; what has a reason to be revoked does not register.
  case registered(KeyIdentifier, KeyRecord)
  case counted(
    KeyIdentifier, signCount: UInt32, at: UnixTime, appID: String?, environment: AttestEnvironment?)
  case revoked(KeyIdentifier, at: UnixTime, reason: String? = nil)
  case removed(KeyIdentifier)
  /// A key that another gate had registered, as its file says. Nothing happens to one that is there.
  case imported(KeyIdentifier, KeyRecord)
}

extension KeyTable {
  mutating func apply(_ fact: Fact) {
    switch fact {
    case .registered(let identifier, let record):
      guard let position = position(of: identifier) else { return insert(entry(identifier, record)) }
      var entry = entry(identifier, record)
      entry.signCount = max(entry.signCount, self[position].signCount)
      entry.lastUsedAt = max(entry.lastUsedAt, self[position].lastUsedAt)
      entry.revokedAt = self[position].revokedAt
      entry.revokedReason = self[position].revokedReason
      self[position] = entry
      if let revokedAt = record.revokedAt {
        revoke(at: position, time: revokedAt.milliseconds, reason: record.revokedReason)
      }
    case .counted(let identifier, let signCount, let time, let appID, let environment):
      // A key that a later fact removes may be missing already.
      guard let position = position(of: identifier) else { return }
      count(
        at: position, signCount: signCount, time: time.milliseconds, appID: appID, environment: environment)
    case .revoked(let identifier, let time, let reason):
      guard let position = position(of: identifier) else { return }
      revoke(at: position, time: time.milliseconds, reason: reason)
    case .removed(let identifier):
      remove(identifier)
    case .imported(let identifier, let record):
      if position(of: identifier) == nil { insert(entry(identifier, record)) }
    }
  }

  mutating func count(
    at position: Int, signCount: UInt32, time: Int64, appID: String?, environment: AttestEnvironment?
  ) {
    let app = self[position].appID == 0 ? appIDs.number(of: appID) : self[position].appID
    self[position].signCount = max(self[position].signCount, signCount)
    self[position].lastUsedAt = max(self[position].lastUsedAt, time)
    self[position].appID = app
    if self[position].environment == nil { self[position].environment = environment }
  }

  mutating func entry(_ identifier: KeyIdentifier, _ record: KeyRecord) -> Entry {
    Entry(
      identifier: identifier, publicKey: record.publicKey, registeredAt: record.registeredAt.milliseconds,
      lastUsedAt: record.lastUsedAt?.milliseconds ?? Entry.never,
      revokedAt: record.revokedAt?.milliseconds ?? Entry.never, signCount: record.signCount,
      appID: appIDs.number(of: record.appID), bundleVersion: bundleVersions.number(of: record.bundleVersion),
      revokedReason: revokedReasons.number(of: record.revokedReason),
      origin: Entry.Origin(record),
      environment: record.environment)
  }
}

// MARK: Bytes

/// A kind, then fields of fixed width, low byte first; strings carry their length in two bytes.
extension Fact {
  func append(to bytes: inout [UInt8]) {
    switch self {
    case .registered(let identifier, let record):
      bytes.append(Kind.registered)
      identifier.digest.append(to: &bytes)
      record.publicKey.x.append(to: &bytes)
      record.publicKey.y.append(to: &bytes)
      bytes.append(number: UInt64(record.signCount), width: 4)
      bytes.append(number: UInt64(bitPattern: record.registeredAt.milliseconds), width: 8)
      bytes.append(time: record.lastUsedAt)
      bytes.append(time: record.revokedAt)
      bytes.append(environment: record.environment)
      bytes.append(record.validationCategory == nil ? 0 : 1)
      bytes.append(number: UInt64(record.validationCategory ?? 0), width: 4)
      bytes.append(string: record.appID)
      bytes.append(string: record.bundleVersion)
    case .counted(let identifier, let signCount, let time, let appID, let environment):
      bytes.append(Kind.counted)
      identifier.digest.append(to: &bytes)
      bytes.append(number: UInt64(signCount), width: 4)
      bytes.append(number: UInt64(bitPattern: time.milliseconds), width: 8)
      bytes.append(environment: environment)
      bytes.append(string: appID)
    case .revoked(let identifier, let time, let reason):
      bytes.append(reason == nil ? Kind.revoked : Kind.revokedFor)
      identifier.digest.append(to: &bytes)
      bytes.append(number: UInt64(bitPattern: time.milliseconds), width: 8)
      if let reason { bytes.append(string: reason) }
    case .removed(let identifier):
      bytes.append(Kind.removed)
      identifier.digest.append(to: &bytes)
    case .imported(let identifier, let record):
      bytes.append(Kind.imported)
      identifier.digest.append(to: &bytes)
      record.publicKey.x.append(to: &bytes)
      record.publicKey.y.append(to: &bytes)
      bytes.append(number: UInt64(record.signCount), width: 4)
      bytes.append(number: UInt64(bitPattern: record.registeredAt.milliseconds), width: 8)
      bytes.append(time: record.lastUsedAt)
      bytes.append(record.imported?.source.number ?? 0)
      bytes.append(number: UInt64(record.imported?.untilSecond ?? 0), width: 4)
      bytes.append(string: record.appID)
    }
  }

  /// Nil when the bytes at `position` are no fact.
  init?(reading bytes: Span<UInt8>, at position: inout Int) {
    var fields = Fields(bytes: bytes, position: position)
    guard let kind = fields.number(1), let digest = fields.bytes32() else { return nil }
    let identifier = KeyIdentifier(digest)
    switch UInt8(kind) {
    case Kind.registered:
      guard let x = fields.bytes32(), let y = fields.bytes32(), let signCount = fields.number(4),
        let registeredAt = fields.number(8), let lastUsedAt = fields.number(8),
        let revokedAt = fields.number(8),
        let environment = fields.environment(), let hasCategory = fields.number(1),
        let category = fields.number(4),
        let appID = fields.string(), let bundleVersion = fields.string()
      else { return nil }
      self = .registered(
        identifier,
        KeyRecord(
          publicKey: P256Point(x: x, y: y), signCount: UInt32(signCount),
          registeredAt: UnixTime(milliseconds: Int64(bitPattern: registeredAt)),
          lastUsedAt: Self.time(lastUsedAt),
          appID: appID.value, environment: environment,
          validationCategory: hasCategory == 0 ? nil : UInt32(category), bundleVersion: bundleVersion.value,
          revokedAt: Self.time(revokedAt)))
    case Kind.counted:
      guard let signCount = fields.number(4), let time = fields.number(8),
        let environment = fields.environment(),
        let appID = fields.string()
      else { return nil }
      self = .counted(
        identifier, signCount: UInt32(signCount), at: UnixTime(milliseconds: Int64(bitPattern: time)),
        appID: appID.value, environment: environment)
    case Kind.revoked:
      guard let time = fields.number(8) else { return nil }
      self = .revoked(identifier, at: UnixTime(milliseconds: Int64(bitPattern: time)))
    case Kind.revokedFor:
      guard let time = fields.number(8), let reason = fields.string()?.value else { return nil }
      self = .revoked(identifier, at: UnixTime(milliseconds: Int64(bitPattern: time)), reason: reason)
    case Kind.removed:
      self = .removed(identifier)
    case Kind.imported:
      guard let x = fields.bytes32(), let y = fields.bytes32(), let signCount = fields.number(4),
        let registeredAt = fields.number(8), let lastUsedAt = fields.number(8),
        let source = fields.number(1).flatMap({ KeySource(number: UInt8($0)) }),
        let second = fields.number(4), let appID = fields.string()
      else { return nil }
      self = .imported(
        identifier,
        KeyRecord(
          publicKey: P256Point(x: x, y: y), signCount: UInt32(signCount),
          registeredAt: UnixTime(milliseconds: Int64(bitPattern: registeredAt)),
          lastUsedAt: Self.time(lastUsedAt), appID: appID.value,
          imported: KeyImport(from: source, untilSecond: UInt32(second))))
    default:
      return nil
    }
    position = fields.position
  }

  private static func time(_ number: UInt64) -> UnixTime? {
    let milliseconds = Int64(bitPattern: number)
    return milliseconds == KeyTable.Entry.never ? nil : UnixTime(milliseconds: milliseconds)
  }

  private enum Kind {
    static let registered: UInt8 = 1
    static let counted: UInt8 = 2
    static let revoked: UInt8 = 3
    static let removed: UInt8 = 4
    /// A version before reasons refuses a journal with one, and reads all others.
    static let revokedFor: UInt8 = 5
    /// Likewise a version that knows no other gate's keys.
    static let imported: UInt8 = 6
  }
}

extension [UInt8] {
  mutating func append(number: UInt64, width: Int) {
    for index in 0..<width { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
  }

  fileprivate mutating func append(time: UnixTime?) {
    append(number: UInt64(bitPattern: time?.milliseconds ?? KeyTable.Entry.never), width: 8)
  }

  /// Lengths are those of configured app ids and of bundle versions (at most 256 bytes), far below the limit.
  fileprivate mutating func append(environment: AttestEnvironment?) {
    switch environment {
    case nil: append(0)
    case .production: append(1)
    case .development: append(2)
    }
  }

  fileprivate mutating func append(string: String?) {
    guard let string else { return append(number: 0xFFFF, width: 2) }
    let text = string.utf8.prefix(0xFFFE)
    append(number: UInt64(text.count), width: 2)
    append(contentsOf: text)
  }
}

extension Span<UInt8> {
  /// Of `width` bytes that are there, low byte first.
  func number(at position: Int, width: Int) -> UInt64 {
    var number: UInt64 = 0
    for index in stride(from: width - 1, through: 0, by: -1) {
      number = number << 8 | UInt64(self[position + index])
    }
    return number
  }
}

private struct Fields: ~Escapable {
  let bytes: Span<UInt8>
  var position: Int

  struct Text { let value: String? }

  @_lifetime(copy bytes)
  init(bytes: Span<UInt8>, position: Int) {
    self.bytes = bytes
    self.position = position
  }

  mutating func number(_ width: Int) -> UInt64? {
    guard bytes.count - position >= width else { return nil }
    defer { position += width }
    return bytes.number(at: position, width: width)
  }

  mutating func bytes32() -> Bytes32? {
    guard bytes.count - position >= 32 else { return nil }
    defer { position += 32 }
    return Bytes32(bytes.extracting(position..<position + 32))
  }

  /// Nil when the byte stands for none; `.some(nil)` for the unknown environment.
  mutating func environment() -> AttestEnvironment?? {
    switch number(1) {
    case 0: .some(nil)
    case 1: .production
    case 2: .development
    default: nil
    }
  }

  mutating func string() -> Text? {
    guard let length = number(2) else { return nil }
    if length == 0xFFFF { return Text(value: nil) }
    guard bytes.count - position >= Int(length) else { return nil }
    var text: [UInt8] = []
    for index in position..<position + Int(length) { text.append(bytes[index]) }
    position += Int(length)
    return Text(value: String(decoding: text, as: UTF8.self))
  }
}
