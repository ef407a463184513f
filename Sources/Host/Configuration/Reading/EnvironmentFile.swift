/// The `.env`-style file of `--config`: `NAME=value` a line, strictly, and without expanding anything.
///
/// A line is blank, a `#` comment, or `NAME=value` with `export ` before it if one likes. A bare value ends
/// at ` #` or the line's end and is taken as it stands; 'single quotes' keep everything, "double quotes" know
/// `\"`, `\\`, `\$`,
/// `\n` and `\t`. `$` expands nothing anywhere. CRLF and a byte order mark are tolerated.
package struct EnvironmentFile: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package let name: String
    package let value: String
    package let line: Int
  }

  package struct LineError: Error, Equatable, Sendable {
    package let line: Int
    /// Of the line, where it begins like `NAME=value`.
    package let name: String?
    /// What follows the sign, as it stands there.
    package let value: String?
    package let rule: Rule

    package init(line: Int, name: String? = nil, value: String? = nil, rule: Rule) {
      self.line = line
      self.name = name
      self.value = value
      self.rule = rule
    }
  }

  package enum Rule: Equatable, Sendable {
    case tooLong
    case notUTF8
    case controlCharacter
    case notAnAssignment
    case malformedName
    case blankBeforeValue
    case unterminatedQuote
    case quoteInsideValue
    case unknownEscape
    case textAfterQuote
    case duplicateName(firstLine: Int)
  }

  package static let longestFile = 1 << 20
  /// After so many wrong lines the file is something else, and the rest is not read.
  package static let mostErrors = 50

  package private(set) var entries: [Entry] = []
  /// In the order of their lines.
  package private(set) var errors: [LineError] = []

  package init(parsing bytes: Span<UInt8>) {
    guard bytes.count <= Self.longestFile else {
      errors = [LineError(line: 0, rule: .tooLong)]
      return
    }
    let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
    var firstLines: [String: Int] = [:]
    var number = 0
    var start = hasMark ? 3 : 0
    while start < bytes.count, errors.count < Self.mostErrors {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
      number += 1
      var line: [UInt8] = []
      for index in start..<end { line.append(bytes[index]) }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      start = end + 1
      do throws(LineFault) {
        guard let (name, value) = try Self.assignment(in: line) else { continue }
        if let first = firstLines[name] { throw LineFault(.duplicateName(firstLine: first)) }
        firstLines[name] = number
        entries.append(Entry(name: name, value: value, line: number))
      } catch {
        let (name, value) = Self.parts(of: line)
        errors.append(LineError(line: number, name: name, value: value, rule: error.rule))
      }
    }
  }

  private struct LineFault: Error {
    let rule: Rule
    init(_ rule: Rule) { self.rule = rule }
  }

  /// Name and text of a line that breaks a rule, for the message; nil where it has none that could be one.
  private static func parts(of line: [UInt8]) -> (name: String?, value: String?) {
    guard let (name, text) = sides(of: withoutExport(line.drop(while: isBlank))) else { return (nil, nil) }
    var stem = name
    while let last = stem.last, isBlank(last) { stem.removeLast() }
    guard isName(stem) else { return (nil, nil) }
    return (String(decoding: stem, as: UTF8.self), String(decoding: text, as: UTF8.self))
  }

  private static func withoutExport(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard text.starts(with: "export".utf8), text.count > 6, isBlank(text[text.startIndex + 6]) else {
      return text
    }
    return text.dropFirst(6).drop(while: isBlank)
  }

  /// What stands before and after the first sign.
  private static func sides(
    of text: ArraySlice<UInt8>
  ) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (text[..<equals], text[(equals + 1)...])
  }

  /// Nil for a blank line or a comment.
  private static func assignment(in line: [UInt8]) throws(LineFault) -> (name: String, value: String)? {
    guard !line.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) else {
      throw LineFault(.controlCharacter)
    }
    guard String(validating: line, as: UTF8.self) != nil else { throw LineFault(.notUTF8) }
    let rest = line.drop(while: isBlank)
    guard let first = rest.first, first != UInt8(ascii: "#") else { return nil }
    guard let (name, text) = sides(of: withoutExport(rest)) else { throw LineFault(.notAnAssignment) }
    if let last = name.last, isBlank(last) { throw LineFault(.blankBeforeValue) }
    guard isName(name) else { throw LineFault(.malformedName) }
    let value = try value(in: text)
    return (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
  }

  private static func value(in text: ArraySlice<UInt8>) throws(LineFault) -> [UInt8] {
    switch text.first {
    case UInt8(ascii: "'"): return try singleQuoted(text.dropFirst())
    case UInt8(ascii: "\""): return try doubleQuoted(text.dropFirst())
    case .some(let first) where isBlank(first):
      // `NAME= value` is a mistake in a shell; `NAME= # comment` is an empty value.
      let value = text.drop(while: isBlank)
      guard value.isEmpty || value.first == UInt8(ascii: "#") else { throw LineFault(.blankBeforeValue) }
      return []
    default: return try bare(text)
    }
  }

  private static func bare(_ text: ArraySlice<UInt8>) throws(LineFault) -> [UInt8] {
    var value: [UInt8] = []
    for byte in text {
      if byte == UInt8(ascii: "#"), let last = value.last, isBlank(last) { break }
      guard byte != UInt8(ascii: "'"), byte != UInt8(ascii: "\"") else { throw LineFault(.quoteInsideValue) }
      value.append(byte)
    }
    while let last = value.last, isBlank(last) { value.removeLast() }
    return value
  }

  private static func singleQuoted(_ text: ArraySlice<UInt8>) throws(LineFault) -> [UInt8] {
    guard let end = text.firstIndex(of: UInt8(ascii: "'")) else { throw LineFault(.unterminatedQuote) }
    try requireEnd(text[(end + 1)...])
    return Array(text[..<end])
  }

  private static func doubleQuoted(_ text: ArraySlice<UInt8>) throws(LineFault) -> [UInt8] {
    var value: [UInt8] = []
    var isEscaped = false
    for index in text.indices {
      let byte = text[index]
      if isEscaped {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): value.append(byte)
        case UInt8(ascii: "n"): value.append(0x0A)
        case UInt8(ascii: "t"): value.append(0x09)
        default: throw LineFault(.unknownEscape)
        }
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        try requireEnd(text[(index + 1)...])
        return value
      } else {
        value.append(byte)
      }
    }
    throw LineFault(.unterminatedQuote)
  }

  /// After a closing quote: nothing, or a blank and a comment.
  private static func requireEnd(_ text: ArraySlice<UInt8>) throws(LineFault) {
    let rest = text.drop(while: isBlank)
    guard rest.isEmpty || (rest.first == UInt8(ascii: "#") && rest.count < text.count) else {
      throw LineFault(.textAfterQuote)
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
    guard let first = text.first, !(0x30...0x39).contains(first) else { return false }
    return text.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }
  }
}

extension EnvironmentFile.Rule: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLong: "is longer than 1 MiB"
    case .notUTF8: "is not UTF-8"
    case .controlCharacter: "has a control character"
    case .notAnAssignment: "is neither NAME=value nor a # comment"
    case .malformedName: "has a name with other characters than letters, digits and _"
    case .blankBeforeValue: "has a blank beside the ="
    case .unterminatedQuote: "has a quote that is not closed on the line"
    case .quoteInsideValue: "has a quote inside a bare value"
    case .unknownEscape: "has another escape than \\\", \\\\, \\$, \\n and \\t"
    case .textAfterQuote: "has text after the closing quote"
    case .duplicateName(let firstLine): "is set a second time, after line \(firstLine)"
    }
  }

  var remedy: String {
    switch self {
    case .tooLong: "name a file of settings"
    case .notUTF8: "save the file as UTF-8"
    case .controlCharacter: "remove it"
    case .notAnAssignment, .malformedName: "write NAME=value, or begin the line with #"
    case .blankBeforeValue: "write NAME=value without blanks around the ="
    case .unterminatedQuote: "close it"
    case .quoteInsideValue: "put the whole value in quotes"
    case .unknownEscape: "write a backslash as \\\\, or use single quotes"
    case .textAfterQuote: "put the whole value in quotes, or a blank before the # of a comment"
    case .duplicateName: "remove one of the two"
    }
  }
}
