/// One object of a policy file, read member by member. What is wrong is collected, so that an operator is told of all of
/// it at once, and members that nobody asked for are wrong as well.
package import JSON

package struct PolicyObject: ~Copyable {
  /// As problems name it.
  package let place: String
  /// Stands before the names of members: `lease.`
  private let prefix: String
  private let object: JSONObject
  private var known: [String] = []
  private var allAreKnown = false
  package private(set) var problems: [PolicyProblem] = []

  init(_ object: JSONObject, place: String, prefix: String = "") {
    self.object = object
    self.place = place
    self.prefix = prefix
  }

  /// Once all members have been asked for.
  package consuming func finish(_ all: inout [PolicyProblem]) {
    for member in allAreKnown ? [] : object.members
    where !known.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
      complain(
        member.name, member.value, "is no member that is known here",
        remedy: known.isEmpty
          ? "leave it out" : "leave it out, or write one of \(known.joined(separator: ", "))")
    }
    all += problems
  }

  package mutating func complain(_ name: String?, _ value: JSONValue?, _ reason: String, remedy: String) {
    let member = name.map { PolicyProblem.printable(prefix + $0) }
    problems.append(PolicyProblem(place: place, member: member, value: value, reason, remedy: remedy))
  }

  mutating func take(_ problems: [PolicyProblem]) {
    self.problems += problems
  }

  package func has(_ name: String) -> Bool { object[name] != nil }

  /// Without asking for it.
  func peek(_ name: String) -> JSONValue? { object[name] }

  package mutating func value(_ name: String) -> JSONValue? {
    known.append(name)
    return object[name]
  }

  // MARK: Members by what they hold; nil where they are absent or wrong

  package mutating func boolean(_ name: String) -> Bool? {
    guard let value = value(name) else { return nil }
    if let boolean = value.boolean { return boolean }
    complain(name, value, "is neither true nor false", remedy: "write true or false")
    return nil
  }

  package mutating func integer(_ name: String, _ range: ClosedRange<Int>, or extra: Int? = nil) -> Int? {
    guard let value = value(name) else { return nil }
    if let integer = value.integer.flatMap({ Int(exactly: $0) }), range.contains(integer) || integer == extra
    {
      return integer
    }
    let alternative = extra.map { "\($0) or " } ?? ""
    complain(
      name, value, "is out of range",
      remedy: "write \(alternative)a whole number from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  mutating func required(_ name: String, _ range: ClosedRange<Int>) -> Int? {
    if !has(name) {
      complain(
        name, nil, "is missing",
        remedy: "write a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer(name, range)
  }

  mutating func choice<Choice: RawRepresentable & CaseIterable>(_ name: String) -> Choice?
  where Choice.RawValue == String {
    guard let value = value(name) else { return nil }
    if let choice = value.string.flatMap(Choice.init(rawValue:)) { return choice }
    complain(
      name, value, "is none of the choices",
      remedy: "write \(Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))")
    return nil
  }

  mutating func text(_ name: String, _ length: ClosedRange<Int> = ApprovalBounds.text) -> String? {
    guard let value = value(name) else { return nil }
    return text(name, value, length)
  }

  mutating func texts(_ name: String, atMost most: Int = ApprovalBounds.list) -> [String]? {
    guard let value = value(name) else { return nil }
    guard let array = value.array, (1...most).contains(array.count) else {
      complain(name, value, "is no list, or an empty one", remedy: "write a list of 1 to \(most) strings")
      return nil
    }
    let texts = array.compactMap { text(name, $0, ApprovalBounds.text) }
    return texts.count == array.count ? texts : nil
  }

  private mutating func text(_ name: String, _ value: JSONValue, _ length: ClosedRange<Int>) -> String? {
    if let text = value.string, length.contains(text.utf8.count) { return text }
    complain(
      name, value, "is no text of fitting length",
      remedy: "write a string of \(length.lowerBound) to \(length.upperBound) bytes")
    return nil
  }

  /// All members, whatever they are called, with a whole number each.
  package mutating func allIntegers(_ range: ClosedRange<Int>) -> [(name: String, number: Int)] {
    var numbers: [(name: String, number: Int)] = []
    for member in object.members {
      if let number = integer(member.name, range) { numbers.append((member.name, number)) }
    }
    return numbers
  }

  /// The member as an object of its own, whose problems are those of this place.
  @discardableResult
  package mutating func object<Result>(
    _ name: String, _ read: (inout PolicyObject) -> Result?
  ) -> Result? {
    guard let value = value(name) else { return nil }
    guard let object = value.object else {
      complain(name, value, "is no object", remedy: "write an object in braces")
      return nil
    }
    var inner = PolicyObject(object, place: place, prefix: "\(prefix)\(name).")
    let result = read(&inner)
    var found: [PolicyProblem] = []
    inner.finish(&found)
    take(found)
    return result
  }

  /// All members, whatever they are called, with a text each.
  mutating func allTexts() -> [(name: String, text: String)] {
    allAreKnown = true
    var texts: [(name: String, text: String)] = []
    for member in object.members {
      if let text = text(member.name, member.value, 0...ApprovalBounds.text.upperBound) {
        texts.append((member.name, text))
      }
    }
    return texts
  }
}
