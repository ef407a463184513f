/// The members of one JSON object that are looked for; the others are passed over.
internal import JSON

/// Values are looked at one by one, where they stand.
struct ObjectMembers: ~Escapable {
  private let bytes: Span<UInt8>
  private let depthLimit: Int
  /// Where the value of each name begins and ends.
  private var values: [(name: Name, range: Range<Int>)] = []

  /// Of at most eight bytes: a member is then one comparison for each, and no more for its escapes.
  struct Name: Equatable, Sendable {
    let text: JSONReader.ShortText

    init(_ name: String) {
      guard let text = JSONReader.ShortText(name) else {
        fatalError("ObjectMembers: \(name) has more than eight bytes")
      }
      self.text = text
    }

    /// By its two numbers: for `==` of another module's type the compiler makes a call.
    @inline(__always)
    func isText(_ other: JSONReader.ShortText) -> Bool {
      text.word == other.word && text.count == other.count
    }
  }

  /// Nil for anything but one object. A name that is looked for comes once.
  @_lifetime(copy bytes)
  init?(_ bytes: Span<UInt8>, _ names: [Name], depthLimit: Int) throws(JSONError) {
    self.bytes = bytes
    self.depthLimit = depthLimit
    var reader = JSONReader(bytes, depthLimit: depthLimit)
    if let first = reader.peek(), first != UInt8(ascii: "{") {
      try reader.skipValue()
      try reader.finish()
      return nil
    }
    try reader.enterObject()
    var seen = SeenNames()
    while let text = try reader.nextMember() {
      let short = reader.short(text)
      let range = try reader.skipValue(&seen)
      guard let short, let name = names.first(where: { $0.isText(short) }) else { continue }
      if values.contains(where: { $0.name == name }) {
        throw JSONError(.duplicateName, at: text.range.lowerBound)
      }
      values.append((name, range))
    }
    try reader.finish()
  }

  /// Nil if it is not there, or null: some writers have no other way to leave one out.
  private func range(_ name: Name) -> Range<Int>? {
    guard let range = values.first(where: { $0.name == name })?.range,
      bytes[range.lowerBound] != UInt8(ascii: "n")
    else { return nil }
    return range
  }

  func has(_ name: Name) -> Bool { range(name) != nil }

  @_lifetime(copy self)
  private func reader(at range: Range<Int>) -> JSONReader {
    JSONReader(bytes.extracting(0..<range.upperBound), from: range.lowerBound, depthLimit: depthLimit)
  }

  private func first(of range: Range<Int>) -> UInt8 { bytes[range.lowerBound] }

  // MARK: Values. Each is nil where it is not there or something else

  func string(_ name: Name) -> [UInt8]? {
    guard let range = range(name), first(of: range) == UInt8(ascii: "\"") else { return nil }
    var reader = reader(at: range)
    guard let text = try? reader.readString() else { return nil }
    return reader.unescaped(text)
  }

  /// A number without sign, fraction and exponent.
  func number(_ name: Name, upTo limit: Int) -> Int? {
    guard let range = range(name), range.count <= 16 else { return nil }
    var number = 0
    for index in range {
      guard (0x30...0x39).contains(bytes[index]) else { return nil }
      number = number * 10 + Int(bytes[index] & 0x0F)
    }
    return number <= limit ? number : nil
  }

  func strings(_ name: Name, upTo limit: Int) -> [[UInt8]]? {
    guard let range = range(name), first(of: range) == UInt8(ascii: "[") else { return nil }
    var reader = reader(at: range)
    var strings: [[UInt8]] = []
    do throws(JSONError) {
      try reader.enterArray()
      while try reader.nextElement() {
        if strings.count == limit { return nil }
        let text = try reader.readString()
        strings.append(reader.unescaped(text))
      }
      return strings
    } catch {
      return nil
    }
  }

  /// The value without white space; null is one here.
  func json(_ name: Name) -> [UInt8]? {
    guard let range = values.first(where: { $0.name == name })?.range else { return nil }
    return reader(at: range).compact(range)
  }

  func isObject(_ name: Name) -> Bool {
    guard let range = range(name) else { return false }
    return first(of: range) == UInt8(ascii: "{")
  }
}
