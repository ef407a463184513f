/// What a call answers with, as a value: a page reads it as it is, and a sender has its JSON written.
package import JSON

package protocol RegistryAnswer: Sendable {
  /// One JSON value: members in the order of docs/protocol.md and docs/devices-messages.md, absent ones left out.
  func write(to json: inout JSONWriter)
}

extension RegistryAnswer {
  package var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }
}

extension Array: RegistryAnswer where Element: RegistryAnswer {
  package func write(to json: inout JSONWriter) {
    json.beginArray()
    for answer in self { answer.write(to: &json) }
    json.endArray()
  }
}

/// A call whose answer is read within this process.
package protocol AnsweringCall: RegistryCall {
  associatedtype Answer: RegistryAnswer
}
