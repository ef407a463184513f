/// What an operator's command asks of the registry: a verb and its arguments, which the registry itself reads.
internal import Bytes
package import JSON
package import Registry

package struct RegistryOrder: Equatable, Sendable {
  package let verb: OperatorVerb
  package let arguments: JSONObject

  package init(_ verb: OperatorVerb, _ arguments: [(name: String, value: JSONValue)] = []) {
    self.verb = verb
    self.arguments = JSONObject(arguments)
  }

  init(_ object: JSONObject) throws(ControlRefusal) {
    guard let word = object["verb"]?.string, !word.isEmpty,
      word.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x2D }), word.utf8.count <= 32
    else { throw ControlRefusal(.badRequest, "verb must be a word of a-z and -, such as devices-list") }
    guard let arguments = object["arguments"]?.object else {
      throw ControlRefusal(.badRequest, "arguments must be an object")
    }
    guard let verb = OperatorVerb(rawValue: word) else {
      throw ControlRefusal(
        .unknownCommand,
        "the running gate knows no order \(PrintableText.field(word)): restart it, so that it is of this version"
      )
    }
    self.verb = verb
    self.arguments = arguments
  }
}
