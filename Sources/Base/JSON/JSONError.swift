/// What is wrong with a JSON text (RFC 8259), and at which byte.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The rule that was broken.
  package enum Rule: String, Sendable {
    case unexpectedEnd = "the text ends too soon"
    case unexpectedByte = "a byte that cannot stand here"
    case trailingBytes = "something follows the value"
    case depthExceeded = "nested too deeply"
    case duplicateName = "a member name comes twice"
    case controlCharacter = "a bare control character in a string"
    case invalidEscape = "an escape that JSON does not have"
    case loneSurrogate = "half a surrogate pair"
    case invalidUTF8 = "not UTF-8"
    case invalidNumber = "not a JSON number"
    /// Good JSON so far, but more of it than the caller takes.
    case tooManyValues = "too many values"
    /// Good JSON, but not what the caller of a `JSONReader` can use; only such callers throw it.
    case unsuitable = "not what belongs here"
  }

  package let rule: Rule
  /// From the start of the text, in bytes.
  package let offset: Int

  package init(_ rule: Rule, at offset: Int) {
    self.rule = rule
    self.offset = offset
  }

  package var description: String { "\(rule.rawValue), byte \(offset)" }
}
