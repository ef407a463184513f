/// Heads of requests for tests.
package import HTTPWire

/// A request's head as the real parser reads it.
package func head(_ requestLine: String, _ fields: String...) throws -> RequestHead {
  let text = ([requestLine, "Host: gate.example"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  var parser = RequestParser()
  let bytes = Array(text.utf8)
  let result = parser.parse(bytes.span)
  guard case .head(let head, _) = result else { throw NotAHead(text: text) }
  return head
}

package struct NotAHead: Error {
  let text: String

  package init(text: String) { self.text = text }
}
