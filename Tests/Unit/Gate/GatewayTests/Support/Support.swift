import HTTPWire
import Testing

/// A request's head as the real parser reads it.
func head(_ requestLine: String, _ fields: String...) throws -> RequestHead {
  let text = ([requestLine, "Host: gate.example"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  var parser = RequestParser()
  let bytes = Array(text.utf8)
  let result = parser.parse(bytes.span)
  guard case .head(let head, _) = result else {
    Issue.record("not a head: \(text)")
    throw NotAHead()
  }
  return head
}

struct NotAHead: Error {}
