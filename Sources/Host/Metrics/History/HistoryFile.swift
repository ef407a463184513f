/// The form of the file in which the last two days outlive the process (docs/console.md, "Console"): a head that names
/// what is counted, then as many places as they have minutes, each with a checksum of its own. Pure: bytes in, minutes out.
///
/// A place is written over as a whole when its minute is two days old. What a crash, a full disk or a failing one has left
/// half written does not check, and is left out; the rest counts. Numbers are little-endian. A file of earlier programs
/// has half as many places, and is read as well.
internal import Bytes
internal import PortcullisProtocol
internal import Time

package enum HistoryFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Something else, which is not to be written over.
  case foreign
  case version(UInt32)
  case damaged

  package var description: String {
    switch self {
    case .foreign: "it is no history of a gate"
    case .version(let number): "it is of version \(number), and this program knows \(HistoryFile.version)"
    case .damaged: "its head is damaged"
    }
  }
}

package enum HistoryFile {
  static let version: UInt32 = 1
  static let magic = Array("pchist\r\n".utf8)
  static let headBytes = 2048
  package static let places = HistoryMinute.kept
  /// More than there will be, so that a head that says more is damaged.
  private static let mostCodes = 512
  /// Checksum, begin, start, six numbers.
  private static let fixedBytes = 4 + 8 * 8

  /// Of this program's own.
  static let placeBytes = placeBytes(codes: RefusalCode.allCases.count)
  package static let bytes = headBytes + places * placeBytes

  private static func placeBytes(codes: Int) -> Int { fixedBytes + codes * 4 }

  // MARK: Writing

  /// Where a place lies in the file.
  package static func offset(ofPlace place: Int) -> Int { headBytes + place % places * placeBytes }

  /// The latest of `minutes`, as many as there are places; the others are empty.
  package static func text(_ minutes: [HistoryMinute]) -> [UInt8] {
    var text = head
    text.reserveCapacity(bytes)
    for minute in minutes.suffix(places) { text += Self.text(minute) }
    return text + [UInt8](repeating: 0, count: bytes - text.count)
  }

  /// What every file of this program begins with.
  package static let head: [UInt8] = {
    var text = magic
    append(version, to: &text)
    append(UInt32(placeBytes), to: &text)
    append(UInt32(RefusalCode.allCases.count), to: &text)
    text += RefusalCode.allCases.map(\.rawValue).joined(separator: "\n").utf8
    guard text.count <= headBytes - 4 else { fatalError("the codes do not fit into the history's head") }
    return sealed(head: text + [UInt8](repeating: 0, count: headBytes - text.count))
  }()

  /// With the checksum that belongs to it.
  static func sealed(head: [UInt8]) -> [UInt8] {
    var head = Array(head.prefix(headBytes - 4))
    append(checksum(head.span), to: &head)
    return head
  }

  /// One place.
  package static func text(_ minute: HistoryMinute) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(placeBytes)
    append(UInt64(clamping: minute.begin.milliseconds), to: &text)
    append(UInt64(clamping: minute.startedAt?.milliseconds ?? 0), to: &text)
    let period = minute.period
    for number in [
      period.mostPlayers, period.admissions, period.registrations, period.bytesFromPlayers,
      period.bytesFromGame, period.lagMicroseconds,
    ] { append(min(UInt64(clamping: number), largest), to: &text) }
    for index in RefusalCode.allCases.indices {
      append(minute.refusals.isEmpty ? 0 : minute.refusals[index], to: &text)
    }
    return sealed(place: text)
  }

  /// With the checksum that belongs to it in front.
  static func sealed(place: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    append(checksum(place.span), to: &text)
    return text + place
  }

  private static func append<Number: FixedWidthInteger>(_ number: Number, to text: inout [UInt8]) {
    for index in 0..<Number.bitWidth / 8 {
      text.append(UInt8(truncatingIfNeeded: number >> Number(index * 8)))
    }
  }

  private static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
    var sum = CRC32C()
    sum.update(bytes)
    return sum.value
  }

  // MARK: Reading

  /// Sums of two days of these are whole numbers still.
  private static let largest: UInt64 = 1 << 50

  /// All minutes that check, in no order. Codes that this program does not know are left out.
  package static func parse(_ bytes: Span<UInt8>) throws(HistoryFileError) -> [HistoryMinute] {
    var (isZero, isMagic) = (true, true)
    for index in 0..<min(bytes.count, magic.count) {
      isZero = isZero && bytes[index] == 0
      isMagic = isMagic && bytes[index] == magic[index]
    }
    // Zeros are what a power cut leaves of a file that was not on the disk yet.
    guard isZero || isMagic else { throw .foreign }
    guard isMagic, bytes.count >= headBytes else { throw .damaged }
    var head = Fields(bytes, at: magic.count)
    let version = head.next(UInt32.self)
    // Of another version nothing but this is known.
    guard version == self.version else { throw .version(version) }
    let (placeBytes, codes) = (Int(head.next(UInt32.self)), Int(head.next(UInt32.self)))
    let isWhole = checksum(bytes.extracting(..<(headBytes - 4))) == Fields.word(bytes, at: headBytes - 4)
    guard isWhole else { throw .damaged }
    guard codes <= mostCodes, placeBytes == Self.placeBytes(codes: codes),
      let names = names(bytes.extracting(head.place..<(headBytes - 4))), names.count == codes
    else { throw .damaged }
    var minutes: [HistoryMinute] = []
    var place = headBytes
    while bytes.count - place >= placeBytes, place < headBytes + places * placeBytes {
      if let minute = minute(bytes.extracting(place..<(place + placeBytes)), names) { minutes.append(minute) }
      place += placeBytes
    }
    return minutes
  }

  /// Which code each number of a place is about; nil inside for one that is not known.
  private static func names(_ bytes: Span<UInt8>) -> [Int?]? {
    var names: [String] = []
    var name: [UInt8] = []
    for index in 0..<bytes.count {
      if bytes[index] == 0 || bytes[index] == UInt8(ascii: "\n") {
        names.append(String(decoding: name, as: UTF8.self))
        name = []
        if bytes[index] == 0 { break }
      } else {
        name.append(bytes[index])
      }
    }
    guard Set(names).count == names.count else { return nil }
    return names.map { name in RefusalCode(rawValue: name).flatMap { RefusalCode.allCases.firstIndex(of: $0) }
    }
  }

  /// Nil where nothing was written, or not all of it, or what cannot be.
  private static func minute(_ bytes: Span<UInt8>, _ names: [Int?]) -> HistoryMinute? {
    guard checksum(bytes.extracting(4...)) == Fields.word(bytes, at: 0) else { return nil }
    var fields = Fields(bytes, at: 4)
    let (begin, start) = (fields.next(UInt64.self), fields.next(UInt64.self))
    let numbers = (0..<6).map { _ in fields.next(UInt64.self) }
    guard begin <= largest, start == 0 || (begin...begin + latestStart).contains(start),
      numbers.allSatisfy({ $0 <= largest })
    else { return nil }
    var period = HistoryPeriod()
    (period.mostPlayers, period.admissions) = (Int(numbers[0]), Int(numbers[1]))
    (period.registrations, period.lagMicroseconds) = (Int(numbers[2]), Int(numbers[5]))
    (period.bytesFromPlayers, period.bytesFromGame) = (Int(numbers[3]), Int(numbers[4]))
    var refusals = [UInt32](repeating: 0, count: RefusalCode.allCases.count)
    for name in names {
      let count = fields.next(UInt32.self)
      guard let name else { continue }
      refusals[name] = count
      period.refusals += Int(count)
    }
    return HistoryMinute(
      begin: UnixTime(milliseconds: Int64(begin)),
      startedAt: start == 0 ? nil : UnixTime(milliseconds: Int64(start)), period: period,
      refusals: period.refusals == 0 ? [] : refusals)
  }

  /// After the beginning of a minute in which several gates may have run one after the other.
  private static let latestStart: UInt64 = 2 * 60_000

  /// Numbers one after the other.
  private struct Fields: ~Escapable {
    private let bytes: Span<UInt8>
    var place: Int

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, at place: Int) {
      self.bytes = bytes
      self.place = place
    }

    mutating func next<Number: FixedWidthInteger>(_: Number.Type) -> Number {
      var number: Number = 0
      for index in 0..<Number.bitWidth / 8 { number |= Number(bytes[place + index]) << Number(index * 8) }
      place += Number.bitWidth / 8
      return number
    }

    static func word(_ bytes: Span<UInt8>, at place: Int) -> UInt32 {
      var fields = Fields(bytes, at: place)
      return fields.next(UInt32.self)
    }
  }
}
