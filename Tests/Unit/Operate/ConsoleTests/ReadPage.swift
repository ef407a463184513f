/// Elements of a page in order, by a parser that is not ours and forgives nothing.
import Foundation
import FoundationXML

final class ReadPage: NSObject, XMLParserDelegate {
  struct Element {
    let name: String
    let attributes: [String: String]
    /// Indices of those around it, the outermost first.
    let path: [Int]
    var text = ""
  }

  private(set) var elements: [Element] = []
  private var open: [Int] = []
  private(set) var problem: String?

  init(_ bytes: [UInt8]) {
    super.init()
    let parser = XMLParser(data: Data(bytes))
    parser.delegate = self
    if !parser.parse() {
      problem = parser.parserError.map { "\($0), line \(parser.lineNumber)" } ?? "unknown"
    }
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    elements.append(Element(name: name, attributes: attributes, path: open))
    open.append(elements.count - 1)
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?)
  {
    open.removeLast()
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    for index in open { elements[index].text += text }
  }

  func all(_ names: String...) -> [Element] { elements.filter { names.contains($0.name) } }

  func isInside(_ element: Element, _ name: String) -> Bool {
    element.path.contains { elements[$0].name == name }
  }
}
