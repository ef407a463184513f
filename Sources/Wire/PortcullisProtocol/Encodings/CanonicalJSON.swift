/// JSON whose bytes are the same wherever it is written (RFC 8785), of a part of JSON in which nothing is ambiguous:
/// objects, strings, arrays of strings, whole numbers and booleans.

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
  package var bytes: [UInt8] { form.bytes }

  private var form: JSONForm {
    var form = JSONForm()
    for member in members {
      switch member.value {
      case .integer(let integer): form.add(member.name, integer)
      case .boolean(let boolean): form.add(member.name, boolean)
      case .string(let string): form.add(member.name, string)
      case .strings(let strings): form.add(member.name, strings)
      case .object(let object): form.add(member.name, object.form)
      }
    }
    return form
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

// MARK: Reading

extension CanonicalObject {
  /// Any spelling of an object of the subset.
  package init(parsing bytes: [UInt8]) throws(CanonicalJSONError) {
    guard bytes.count <= Self.sizeLimit else { throw .size }
    let tree = try JSONTree(parsing: bytes, depthLimit: Self.depthLimit, isCanonical: true)
    guard let object = tree.object else { throw .top }
    self = try Self(members: object)
    try checkCharacters()
  }

  /// The canonical form alone.
  package init(canonical bytes: [UInt8]) throws(CanonicalJSONError) {
    try self.init(parsing: bytes)
    guard bytes == self.bytes else { throw .canonical }
  }

  /// Of a tree that was read by the rules of this one.
  fileprivate init(members object: JSONTree.Object) throws(CanonicalJSONError) {
    var members: [Member] = []
    for member in object.members { members.append(Member(member.name, try CanonicalValue(member.value))) }
    self.init(unchecked: members)
  }
}

extension CanonicalValue {
  fileprivate init(_ tree: JSONTree) throws(CanonicalJSONError) {
    switch tree {
    case .null: throw .type
    case .boolean(let boolean): self = .boolean(boolean)
    case .number:
      guard let integer = tree.integer else { throw .number }
      self = .integer(integer)
    case .string(let string): self = .string(string)
    case .array(let elements): self = .strings(elements.compactMap(\.string))
    case .object(let object): self = .object(try CanonicalObject(members: object))
    }
  }
}
