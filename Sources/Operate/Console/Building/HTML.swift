/// HTML on its way to being bytes: text enters it escaped, and in no other way. What comes out is well-formed XML too, so
/// that a test can tell that every element is closed where it should be.
struct HTML: Sendable {
  /// UTF-8.
  private(set) var bytes: [UInt8] = []

  init() {}

  // MARK: Text

  /// Text between tags, or within the quotes of an attribute's value: what either would read as markup is written as a
  /// character reference (HTML Living Standard, "Escaping a string"), and so are characters that change the direction of
  /// what follows or do not show (Unicode UAX #9), and control characters, which stand as U+FFFD.
  mutating func text(_ text: some StringProtocol) {
    // Most of it, and quickly.
    if text.utf8.allSatisfy(Self.isPlain) { return bytes.append(contentsOf: text.utf8) }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": append("&amp;")
      case "<": append("&lt;")
      case ">": append("&gt;")
      case "\"": append("&quot;")
      case "'": append("&#39;")
      case "\n", "\t", " "..."~": bytes.append(UInt8(scalar.value))
      default:
        if ShownText.isHidden(scalar) { append("\u{FFFD}") } else { append(String(Character(scalar))) }
      }
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
    default: (0x20..<0x7F).contains(byte)
    }
  }

  // MARK: Elements

  mutating func element(
    _ element: Element, _ attributes: Attribute?..., content: (inout HTML) -> Void
  ) {
    open(element, attributes)
    content(&self)
    append("</\(element.rawValue)>")
  }

  /// With nothing but text in it.
  mutating func element(
    _ element: Element, _ attributes: Attribute?..., text: some StringProtocol
  ) {
    open(element, attributes)
    self.text(text)
    append("</\(element.rawValue)>")
  }

  /// One without content.
  mutating func element(_ element: Element, _ attributes: Attribute?...) {
    open(element, attributes)
    if element.isVoid {
      bytes[bytes.count - 1] = UInt8(ascii: "/")
      append(">")
    } else {
      append("</\(element.rawValue)>")
    }
  }

  mutating func documentType() { append("<!DOCTYPE html>\n") }

  private mutating func open(_ element: Element, _ attributes: [Attribute?]) {
    append("<\(element.rawValue)")
    for case let attribute? in attributes {
      append(" \(attribute.name)=\"")
      text(attribute.value)
      append("\"")
    }
    append(">")
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

/// The elements that pages are made of.
enum Element: String, Sendable {
  case a, body, button, caption, code, dd, details, div, dl, dt, figure, footer, form, h1, h2, head, header
  case html, input, label, li, link, main, meta, nav, option, p, script, section, select, span, strong
  case summary, table, tbody, td, th, thead, time, title, tr, ul
  case figureCaption = "figcaption"

  // SVG.
  case g, line, path, svg, text

  /// Has no end tag.
  var isVoid: Bool {
    switch self {
    case .input, .link, .meta: true
    default: false
    }
  }
}
