/// What is wrong with a policy file, as its operator is told: where, what is there, why not, and what to write instead.
internal import Bytes
internal import JSON

package struct PolicyProblem: Equatable, Sendable, CustomStringConvertible {
  /// `rule 2`, `DEFAULT`, `class 1`; empty for the file as a whole.
  package let place: String
  /// `lease.ttl_s`; nil where it is about the whole of the place.
  package let member: String?
  /// As it may be shown; nil where nothing is there.
  package let shownValue: String?
  package let reason: String
  /// An imperative.
  package let remedy: String

  init(place: String, member: String?, value: JSONValue? = nil, _ reason: String, remedy: String) {
    self.place = place
    self.member = member
    shownValue = value.map(Self.shown)
    self.reason = reason
    self.remedy = remedy
  }

  /// `rule 2: lease.ttl_s 7200 is out of range: write a whole number from 1 to 3600`
  package var description: String {
    var subject = [member, shownValue].compactMap(\.self).joined(separator: " ")
    if !subject.isEmpty { subject += " " }
    return (place.isEmpty ? "" : "\(place): ") + "\(subject)\(reason): \(remedy)"
  }

  /// Of a name that the file gives.
  static func printable(_ name: String) -> String { PrintableText.field(name, limit: 64) }

  private static func shown(_ value: JSONValue) -> String {
    var writer = JSONWriter()
    writer.value(value)
    let isText = value.string != nil
    let text = isText ? Array(writer.bytes.dropFirst().dropLast()) : writer.bytes
    return PrintableText.field(text.span, limit: 64)
  }
}

/// All that is wrong with a policy file; never empty.
package struct PolicyFailure: Error, Equatable, Sendable {
  package let problems: [PolicyProblem]

  package init(problems: [PolicyProblem]) {
    self.problems = problems
  }
}
