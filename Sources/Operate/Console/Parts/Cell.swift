/// What stands in one cell of a table, or behind one name: written as HTML, and as JSON from which the script makes the
/// same elements.
internal import JSON
internal import Prompt
internal import System
internal import Time

indirect enum Cell: Sendable {
  /// Nothing is known: a dash.
  case none
  case text(String)
  /// A text that may take several lines.
  case sentence(String)
  /// Letters and digits to be compared one by one.
  case code(String)
  case number(Int)
  case bytes(UInt64)
  case microseconds(Int)
  case time(UnixTime)
  /// A time to come, which the script counts down to.
  case ends(UnixTime)
  case standing(Standing, String)
  /// Leads on; what it says is one of the above.
  case link(Cell, ConsolePath)
  /// One below the other.
  case lines([Cell])
  /// Folded away behind a word.
  case details(String, [Cell])

  static func optional(_ text: String?) -> Cell { text.map { .text($0) } ?? .none }
  static func optional(sentence: String?) -> Cell { sentence.map { .sentence($0) } ?? .none }
  static func optional(code: String?) -> Cell { code.map { .code($0) } ?? .none }
  static func optional(_ time: UnixTime?) -> Cell { time.map { .time($0) } ?? .none }

  /// What a peer says of itself may be long; what is behind the limit, its own page or the log has.
  static let longestText = 120
  static let longestSentence = 600

  var isEmpty: Bool {
    switch self {
    case .none: true
    case .lines(let cells), .details(_, let cells): cells.allSatisfy(\.isEmpty)
    case .text, .sentence, .code, .number, .bytes, .microseconds, .time, .ends, .standing, .link: false
    }
  }
}

// MARK: HTML

extension HTML {
  mutating func cell(_ cell: Cell) {
    switch cell {
    case .none: element(.span, .class(.quiet), text: "–")
    case .text(let text): self.text(Wording.cut(text, to: Cell.longestText))
    case .sentence(let text): self.text(Wording.cut(text, to: Cell.longestSentence))
    case .code(let text): element(.code, text: Wording.cut(text, to: Cell.longestText))
    case .number(let number): text(Wording.count(number))
    case .bytes(let number):
      element(.span, .text(.title, "\(Wording.count(number)) bytes"), text: Wording.bytes(number))
    case .microseconds(let number): text(Wording.microseconds(number))
    case .time(let time):
      element(
        .time, .text(.dateTime, time.timestamp), .text(.title, time.timestamp), text: Wording.time(time))
    case .ends(let time):
      element(
        .time, .class(.countdown), .text(.dateTime, time.timestamp), .text(.title, time.timestamp),
        text: Wording.time(time))
    case .standing(let standing, let word): badge(standing, word)
    case .link(let content, let path): element(.a, .href(path)) { $0.cell(content) }
    case .lines(let cells):
      for cell in cells where !cell.isEmpty { element(.div) { $0.cell(cell) } }
    case .details(let word, let cells):
      element(.details) { html in
        html.element(.summary, text: word)
        html.cell(.lines(cells))
      }
    }
  }

  mutating func badge(_ standing: Standing, _ word: String) {
    element(.span, .class(.badge, .of(standing)), text: Wording.cut(word, to: Cell.longestText))
  }
}

// MARK: JSON

extension JSONWriter {
  /// A string where that says it all, else an object.
  mutating func cell(_ cell: Cell) {
    switch cell {
    case .none: null()
    case .text(let text): value(ShownText.visible(Wording.cut(text, to: Cell.longestText)))
    case .sentence(let text): value(ShownText.visible(Wording.cut(text, to: Cell.longestSentence)))
    case .number(let number): value(Wording.count(number))
    case .microseconds(let number): value(Wording.microseconds(number))
    case .lines(let cells):
      beginArray()
      for cell in cells where !cell.isEmpty { self.cell(cell) }
      endArray()
    case .code, .bytes, .time, .ends, .standing, .link, .details:
      beginObject()
      members(of: cell)
      endObject()
    }
  }

  private mutating func members(of cell: Cell) {
    switch cell {
    case .code(let text): member("code", Wording.cut(text, to: Cell.longestText))
    case .bytes(let number):
      member("text", Wording.bytes(number))
      member("title", "\(Wording.count(number)) bytes")
    case .time(let time): member("time", time.timestamp)
    case .ends(let time): member("ends", time.timestamp)
    case .standing(let standing, let word):
      member("standing", standing.rawValue)
      member("text", Wording.cut(word, to: Cell.longestText))
    case .link(let content, let path):
      member("href", path.text)
      name("content")
      self.cell(content)
    case .details(let word, let cells):
      member("summary", word)
      name("lines")
      self.cell(.lines(cells))
    case .none, .text, .sentence, .number, .microseconds, .lines: break
    }
  }

  mutating func member(_ name: String, _ text: String) {
    self.name(name)
    value(ShownText.visible(text))
  }
}
