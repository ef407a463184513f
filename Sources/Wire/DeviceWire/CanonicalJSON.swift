/// JSON whose bytes are the same wherever it is written (RFC 8785), of a part of JSON in which nothing is ambiguous:
/// objects, strings, arrays of strings, whole numbers and booleans.
internal import Bytes
internal import JSON

/// The rule that a text breaks, by its word.
package enum CanonicalJSONError: String, Error, CaseIterable, Sendable {
  /// More than 8,192 bytes, as it was read or as it is written.
  case size
  case utf8
  /// RFC 8259.
  case syntax
  /// More than eight objects and arrays inside each other.
  case depth
  /// Anything but a whole number of −(2⁵³−1)…2⁵³−1, written as such.
  case number
  /// A member's name comes twice.
  case duplicate
  /// `null`, or an array that holds something else than strings.
  case type
  /// Half a surrogate pair, by escape.
  case surrogate
  /// Not an object.
  case top
  /// A string or name holds a character that no shown text may hold.
  case character
  /// Not the members that a summary has.
  case members
  /// Good, but not in the canonical form.
  case canonical
}

package enum CanonicalValue: Sendable {
  case integer(Int64)
  case boolean(Bool)
  case string(String)
  case strings([String])
  case object(CanonicalObject)

  package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  package var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
  package var string: String? { if case .string(let string) = self { string } else { nil } }
  package var strings: [String]? { if case .strings(let strings) = self { strings } else { nil } }
  package var object: CanonicalObject? { if case .object(let object) = self { object } else { nil } }
}

/// An object that can be written: no name twice, all characters fit to be shown, no number beyond what JSON's readers
/// agree on, no deeper than the limit.
package struct CanonicalObject: Sendable {
  package struct Member: Sendable {
    package let name: String
    package let value: CanonicalValue

    package init(_ name: String, _ value: CanonicalValue) {
      self.name = name
      self.value = value
    }
  }

  /// In the canonical order, by the UTF-16 code units of their names (RFC 8785 §3.2.3).
  package let members: [Member]
  /// How many objects and arrays are inside each other here, this one included.
  private let depth: Int

  package static let sizeLimit = 8192
  package static let depthLimit = 8
  package static let integers: ClosedRange<Int64> = -(1 << 53 - 1)...(1 << 53 - 1)

  /// Members in any order.
  package init(_ members: [Member]) throws(CanonicalJSONError) {
    self.init(unchecked: members)
    for (member, next) in zip(self.members, self.members.dropFirst())
    where member.name.isSameText(as: next.name) {
      throw .duplicate
    }
    for case .integer(let number) in self.members.lazy.map(\.value) where !Self.integers.contains(number) {
      throw .number
    }
    if depth > Self.depthLimit { throw .depth }
    try checkCharacters()
  }

  /// Of names that differ.
  init(unchecked members: [Member]) {
    self.members = members.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
    depth =
      1
      + (members.lazy.map { member in
        switch member.value {
        case .object(let object): object.depth
        case .strings: 1
        default: 0
        }
      }.max() ?? 0)
  }

  /// The member of exactly these bytes.
  package subscript(name: String) -> CanonicalValue? {
    members.first { $0.name.isSameText(as: name) }?.value
  }

  /// The canonical form, however long.
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }

  private func write(to writer: inout JSONWriter) {
    writer.beginObject()
    for member in members {
      writer.name(member.name)
      switch member.value {
      case .integer(let integer): writer.value(integer)
      case .boolean(let boolean): writer.value(boolean)
      case .string(let string): writer.value(string)
      case .strings(let strings):
        writer.beginArray()
        for string in strings { writer.value(string) }
        writer.endArray()
      case .object(let object): object.write(to: &writer)
      }
    }
    writer.endObject()
  }

  func checkCharacters() throws(CanonicalJSONError) {
    for member in members {
      guard ShownText.isReadable(member.name) else { throw .character }
      switch member.value {
      case .integer, .boolean: break
      case .string(let string): if !ShownText.isReadable(string) { throw .character }
      case .strings(let strings): if !strings.allSatisfy(ShownText.isReadable) { throw .character }
      case .object(let object): try object.checkCharacters()
      }
    }
  }
}

extension CanonicalObject: Equatable {
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
}
