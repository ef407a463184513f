/// What an operator's command asks of the registry: a verb and its arguments, which the registry itself reads.
internal import Bytes
package import JSON

package struct RegistryOrder: Equatable, Sendable {
  /// Such as `devices-list`.
  package let verb: String
  package let arguments: JSONObject

  package init(_ verb: String, _ arguments: [(name: String, value: JSONValue)] = []) {
    self.verb = verb
    self.arguments = JSONObject(arguments)
  }

  init(_ object: JSONObject) throws(ControlRefusal) {
    guard let verb = object["verb"]?.string, !verb.isEmpty,
      verb.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x2D }), verb.utf8.count <= 32
    else { throw ControlRefusal(.badRequest, "verb must be a word of a-z and -, such as devices-list") }
    guard let arguments = object["arguments"]?.object else {
      throw ControlRefusal(.badRequest, "arguments must be an object")
    }
    self.verb = verb
    self.arguments = arguments
  }
}
