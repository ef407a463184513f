/// Values as a MaxMind DB file holds them (MaxMind DB File Format Specification 2.0, "Data Section"), read where they lie.
///
/// libmaxminddb 1.7 goes down into nested values without a limit, and a file may nest more than a stack holds. So it
/// finds records, and what is in them is read here, with a limit on depth and on how much is looked at.

/// Of a section of the file, to which pointers are relative.
struct MaxMindData: ~Escapable {
  private let bytes: Span<UInt8>

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  enum Value: Equatable {
    case text(String)
    case number(UInt64)
    /// Neither of the two.
    case other
  }

  /// What lies at the end of a path of names, from the map at `offset` on; nil where nothing does, or the file is
  /// damaged there.
  func value(at offset: Int, _ path: [StaticString]) -> Value? {
    do throws(Damage) {
      var work = Self.workLimit
      var head = try following(offset)
      for name in path {
        guard head.kind == .map, let place = try member(name, of: head, &work) else { return nil }
        head = try following(place)
      }
      return try value(head)
    } catch {
      return nil
    }
  }

  /// Goes through all that is reached from `offset`, pointers included, as the library does when it reads metadata.
  /// - Returns: false where that is too deep, too much, or damaged.
  func isSound(at offset: Int) -> Bool {
    do throws(Damage) {
      var work = Self.workLimit
      try visit(offset, 0, &work)
      return true
    } catch {
      return false
    }
  }

  // MARK: Heads

  private struct Damage: Error {}

  private enum Kind: UInt8 {
    case pointer = 1
    case text, double, bytes, uint16, uint32, map, int32, uint64, uint128, array, container, end, boolean,
      float
  }

  private struct Head {
    let kind: Kind
    /// Bytes of a value, members of a map, elements of an array; where a pointer leads.
    let size: Int
    /// The first byte behind the head.
    let start: Int

    /// The first byte behind the value, but for maps and arrays.
    var end: Int {
      switch kind {
      case .pointer, .boolean, .container, .end, .map, .array: start
      default: start + size
      }
    }
  }

  private func head(_ offset: Int) throws(Damage) -> Head {
    let control = try number(offset, 1)
    var next = offset + 1
    var type = UInt8(control >> 5)
    if type == Kind.pointer.rawValue { return try pointer(control, next) }
    if type == 0 {
      type = UInt8(clamping: try number(next, 1) + 7)
      next += 1
      // The ones up to there have a number of their own in the first byte.
      guard type > Kind.map.rawValue else { throw Damage() }
    }
    guard let kind = Kind(rawValue: type) else { throw Damage() }
    var size = control & 0x1F
    if size >= 29 {
      let count = size - 28
      size = [29, 285, 65_821][count - 1] + (try number(next, count))
      next += count
    }
    let head = Head(kind: kind, size: size, start: next)
    guard head.end <= bytes.count else { throw Damage() }
    return head
  }

  private func pointer(_ control: Int, _ next: Int) throws(Damage) -> Head {
    let count = (control >> 3 & 3) + 1
    let rest = try number(next, count)
    let high = count == 4 ? 0 : (control & 7) << (8 * count)
    return Head(kind: .pointer, size: high + rest + [0, 2048, 526_336, 0][count - 1], start: next + count)
  }

  /// Big endian, of at most eight bytes.
  private func number(_ offset: Int, _ count: Int) throws(Damage) -> Int {
    guard offset >= 0, offset <= bytes.count - count else { throw Damage() }
    var number: UInt64 = 0
    for index in offset..<(offset + count) { number = number << 8 | UInt64(bytes[index]) }
    return Int(truncatingIfNeeded: number)
  }

  /// The head at `offset`, or the one that a pointer there leads to: it may lead to no other pointer.
  private func following(_ offset: Int) throws(Damage) -> Head {
    let first = try head(offset)
    guard first.kind == .pointer else { return first }
    let second = try head(first.size)
    guard second.kind != .pointer else { throw Damage() }
    return second
  }

  // MARK: Values

  private func value(_ head: Head) throws(Damage) -> Value {
    switch head.kind {
    case .text:
      var text: [UInt8] = []
      guard head.size <= Self.textLimit else { return .other }
      for index in head.start..<head.end { text.append(bytes[index]) }
      return String(validating: text, as: UTF8.self).map(Value.text) ?? .other
    case .uint16, .uint32, .uint64:
      guard head.size <= 8 else { throw Damage() }
      return .number(UInt64(bitPattern: Int64(try number(head.start, head.size))))
    default: return .other
    }
  }

  /// Where the value of a map's member begins.
  private func member(_ name: StaticString, of map: Head, _ work: inout Int) throws(Damage) -> Int? {
    var place = map.start
    for _ in 0..<map.size {
      let key = try following(place)
      guard key.kind == .text else { throw Damage() }
      let value = try end(place, 0, &work)
      if isEqual(key, name) { return value }
      place = try end(value, 0, &work)
    }
    return nil
  }

  private func isEqual(_ key: Head, _ name: StaticString) -> Bool {
    guard key.size == name.utf8CodeUnitCount else { return false }
    // ASCII literals, whose bytes live as long as the process.
    return (0..<key.size).allSatisfy { unsafe bytes[key.start + $0] == name.utf8Start[$0] }
  }

  /// The first byte behind the value at `offset`; a pointer is not followed.
  private func end(_ offset: Int, _ depth: Int, _ work: inout Int) throws(Damage) -> Int {
    let head = try take(offset, depth, &work)
    let count = try Self.parts(head)
    var place = head.end
    for _ in 0..<count { place = try end(place, depth + 1, &work) }
    return place
  }

  private func visit(_ offset: Int, _ depth: Int, _ work: inout Int) throws(Damage) {
    let first = try following(offset)
    _ = try take(offset, depth, &work)
    var place = first.start
    for _ in 0..<(try Self.parts(first)) {
      try visit(place, depth + 1, &work)
      place = try end(place, depth + 1, &work)
    }
  }

  private func take(_ offset: Int, _ depth: Int, _ work: inout Int) throws(Damage) -> Head {
    guard depth <= Self.depthLimit, work > 0 else { throw Damage() }
    work -= 1
    return try head(offset)
  }

  /// How many values follow the head.
  private static func parts(_ head: Head) throws(Damage) -> Int {
    switch head.kind {
    case .map: 2 * head.size
    case .array: head.size
    default: 0
    }
  }

  /// Those of MaxMind nest four deep, and a record has some hundred values.
  private static let depthLimit = 16
  private static let workLimit = 20_000
  private static let textLimit = 256
}
