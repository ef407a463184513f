/// Reads the key file of mud-web-proxy 4, piece by piece (docs/backup.md, "From another gate"):
/// `{keyId: {publicKey, alternatePublicKey?, signCount, registeredAt, lastUsedAt?, lastAssertedAt?}}`.
///
/// Strict: a member that is not known here might say that the key is no good, so it is refused with the whole file. What is
/// well said and of no use here, such as a key on another curve, is left out and told.
package import Bytes
internal import JSON
internal import Time

/// A place in a text, as editors count: from 1.
package struct TextPlace: Equatable, Sendable, CustomStringConvertible {
  package let line: Int
  package let column: Int

  package var description: String { "line \(line), column \(column)" }
}

package struct ForeignFileError: Error, Equatable, Sendable, CustomStringConvertible {
  package let place: TextPlace
  package let reason: String

  package var description: String { "\(place): \(reason)" }
}

/// A key that stays behind.
package struct KeyLeftOut: Equatable, Sendable {
  package enum Reason: String, Sendable {
    case name = "its name is no key id: base64 of 32 bytes"
    case curve = "its public key is no point of P-256 in PEM"
    case identifier = "its id is not the SHA-256 of its public key"
  }

  package let line: Int
  /// As the file has it.
  package let name: String
  package let reason: Reason
}

package struct GoldfinchParser {
  private enum State {
    case start
    case members(hasMembers: Bool)
    case ended
  }

  package private(set) var keys: [ForeignKey] = []
  /// The first of them.
  package private(set) var leftOut: [KeyLeftOut] = []
  package private(set) var leftOutCount = 0
  private var state = State.start
  private var identifiers: Set<KeyIdentifier> = []
  /// Of the byte at `counted` in the present piece.
  private var place = TextPlace(line: 1, column: 1)
  private var counted = 0
  private var unsuitable = ""
  private let limit: Int
  private let isOnCurve: (P256Point) -> Bool
  private let fingerprint: (P256Point) -> Bytes32

  /// - Parameters:
  ///   - limit: how many keys a file may have.
  ///   - fingerprint: SHA-256 of the uncompressed point.
  package init(
    limit: Int, isOnCurve: @escaping (P256Point) -> Bool, fingerprint: @escaping (P256Point) -> Bytes32
  ) {
    self.limit = limit
    self.isOnCurve = isOnCurve
    self.fingerprint = fingerprint
  }

  /// Takes as many whole members as `bytes` holds; the caller passes the rest again, followed by more of the file.
  /// - Parameter isLast: nothing will follow.
  /// - Returns: how many bytes were taken.
  package mutating func parse(_ bytes: Span<UInt8>, isLast: Bool) throws(ForeignFileError) -> Int {
    var taken = 0
    do {
      while try step(bytes, isLast: isLast, &taken) {}
    } catch {
      // Half a member at a piece's end is no error: it comes again, whole.
      if error.rule != .unexpectedEnd || isLast {
        count(bytes, to: min(error.offset, bytes.count))
        throw ForeignFileError(
          place: place,
          reason: error.rule == .unsuitable ? unsuitable : error.rule.rawValue)
      }
    }
    count(bytes, to: taken)
    counted = 0
    return taken
  }

  /// Each byte once: places are asked for in the order of the file.
  private mutating func count(_ bytes: Span<UInt8>, to end: Int) {
    var (line, column) = (place.line, place.column)
    while counted < end {
      if bytes[counted] == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) } else { column += 1 }
      counted += 1
    }
    place = TextPlace(line: line, column: column)
  }

  /// One thing on the way from start to end. False when nothing is left to be taken.
  private mutating func step(
    _ bytes: Span<UInt8>, isLast: Bool, _ taken: inout Int
  ) throws(JSONError) -> Bool {
    var reader = JSONReader(bytes, from: taken, depthLimit: 2)
    switch state {
    case .start:
      try reader.enterObject()
      state = .members(hasMembers: false)
    case .members(let hasMembers):
      reader.resumeObject(hasMembers: hasMembers)
      if let name = try reader.nextMember() {
        try readKey(name, bytes, &reader)
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

  // MARK: A key

  private struct Fields {
    var publicKey: [UInt8]?
    var alternatePublicKey: [UInt8]?
    var signCount: UInt32?
    var registeredAt: UnixTime?
    var lastUsedAt: UnixTime?
    var lastAssertedAt: UnixTime?
  }

  private enum Member: String, CaseIterable {
    case publicKey, signCount, registeredAt, alternatePublicKey, lastUsedAt, lastAssertedAt

    var isNeeded: Bool { self == .publicKey || self == .signCount || self == .registeredAt }
  }

  private mutating func readKey(
    _ name: JSONReader.Text, _ bytes: Span<UInt8>, _ reader: inout JSONReader
  ) throws(JSONError) {
    let text = reader.unescaped(name)
    let start = name.range.lowerBound
    let fields = try readFields(bytes, &reader)
    guard let publicKey = fields.publicKey else { throw refusal(start, "the key has no publicKey") }
    guard let signCount = fields.signCount else { throw refusal(start, "the key has no signCount") }
    guard let registeredAt = fields.registeredAt else { throw refusal(start, "the key has no registeredAt") }
    guard let identifier = KeyIdentifier(base64: text.span) else {
      return leave(.name, text, bytes, at: start)
    }
    // Those that are left out count as well: names of keys are kept, too.
    guard identifiers.count < limit else {
      throw refusal(start, "more than \(limit) keys, which is KEYSTORE_MAX_KEYS")
    }
    guard identifiers.insert(identifier).inserted else { throw refusal(start, "the key is there twice") }
    let points = [publicKey, fields.alternatePublicKey].compactMap { pem in
      pem.flatMap { P256Point(pem: $0.span) }
    }.filter(isOnCurve)
    if points.isEmpty { return leave(.curve, text, bytes, at: start) }
    // That gate was not sure which of two was the key; the identifier is.
    guard let point = points.first(where: { KeyIdentifier(fingerprint($0)) == identifier }) else {
      return leave(.identifier, text, bytes, at: start)
    }
    let used = [fields.lastUsedAt, fields.lastAssertedAt].compactMap(\.self).max { $0 < $1 }
    keys.append(
      ForeignKey(
        identifier: identifier, publicKey: point, signCount: signCount, registeredAt: registeredAt,
        lastUsedAt: used))
  }

  private mutating func leave(
    _ reason: KeyLeftOut.Reason, _ name: [UInt8], _ bytes: Span<UInt8>, at offset: Int
  ) {
    leftOutCount += 1
    guard leftOut.count < Self.mostTold else { return }
    count(bytes, to: offset)
    leftOut.append(
      KeyLeftOut(line: place.line, name: String(decoding: name.prefix(128), as: UTF8.self), reason: reason))
  }

  /// Behind the last byte that was taken.
  package var end: TextPlace { place }

  package static let mostTold = 1000

  private mutating func readFields(
    _ bytes: Span<UInt8>, _ reader: inout JSONReader
  ) throws(JSONError) -> Fields {
    var fields = Fields()
    var seen: Set<Member> = []
    try reader.enterObject()
    while let name = try reader.nextMember() {
      let start = name.range.lowerBound
      guard let member = Member(rawValue: reader.string(name)) else {
        throw refusal(
          start, "a member that is not known here: \(PrintableText.field(reader.string(name), limit: 64))")
      }
      guard seen.insert(member).inserted else { throw JSONError(.duplicateName, at: start) }
      if !member.isNeeded, reader.peek() == UInt8(ascii: "n") {
        _ = try reader.readLiteral()
        continue
      }
      switch member {
      case .publicKey: fields.publicKey = reader.unescaped(try reader.readString())
      case .alternatePublicKey: fields.alternatePublicKey = reader.unescaped(try reader.readString())
      case .signCount: fields.signCount = try readCount(bytes, &reader)
      case .registeredAt: fields.registeredAt = try readTime(&reader)
      case .lastUsedAt: fields.lastUsedAt = try readTime(&reader)
      case .lastAssertedAt: fields.lastAssertedAt = try readTime(&reader)
      }
    }
    return fields
  }

  private mutating func readCount(_ bytes: Span<UInt8>, _ reader: inout JSONReader) throws(JSONError)
    -> UInt32
  {
    let range = try reader.readNumber()
    // A number at the end of a piece may go on in the next one.
    guard range.upperBound < bytes.count else { throw JSONError(.unexpectedEnd, at: range.upperBound) }
    var text: [UInt8] = []
    text.append(copying: bytes.extracting(range))
    guard let count = UInt32(String(decoding: text, as: UTF8.self)) else {
      throw refusal(range.lowerBound, "signCount is no whole number of 32 bits")
    }
    return count
  }

  private mutating func readTime(_ reader: inout JSONReader) throws(JSONError) -> UnixTime {
    let text = try reader.readString()
    guard let time = UnixTime(timestamp: reader.string(text)) else {
      throw refusal(text.range.lowerBound, "not a timestamp of RFC 3339")
    }
    return time
  }

  private mutating func refusal(_ offset: Int, _ reason: String) -> JSONError {
    unsuitable = reason
    return JSONError(.unsuitable, at: offset)
  }
}
