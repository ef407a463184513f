/// Attributes: their names are fixed, and what a value can lead to is fixed by its type. There is none for a style, for a
/// script, or for an address outside of the console.

struct Attribute: Sendable {
  let name: String
  let value: String

  private init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  // MARK: Addresses

  static func href(_ path: ConsolePath) -> Attribute { Attribute("href", path.text) }
  /// Within the page.
  static func href(to anchor: Anchor) -> Attribute { Attribute("href", "#\(anchor.text)") }
  static func action(_ path: ConsolePath) -> Attribute { Attribute("action", path.text) }
  static func source(_ path: ConsolePath) -> Attribute { Attribute("src", path.text) }
  /// Where the script gets what changes.
  static func liveFrom(_ path: ConsolePath) -> Attribute { Attribute("data-live-from", path.text) }

  // MARK: Words

  static func `class`(_ names: StyleClass?...) -> Attribute? {
    let words = names.compactMap { $0?.rawValue }
    return words.isEmpty ? nil : Attribute("class", words.joined(separator: " "))
  }
  static func classes(_ names: [StyleClass]) -> Attribute? {
    names.isEmpty ? nil : Attribute("class", names.map(\.rawValue).joined(separator: " "))
  }
  static func id(_ anchor: Anchor) -> Attribute { Attribute("id", anchor.text) }
  /// What names or describes an element; nil without any.
  static func references(_ kind: Reference, _ anchors: Anchor?...) -> Attribute? {
    let words = anchors.compactMap { $0?.text }
    return words.isEmpty ? nil : Attribute(kind.rawValue, words.joined(separator: " "))
  }

  enum Reference: String {
    case `for`
    case labelledBy = "aria-labelledby"
    case describedBy = "aria-describedby"
  }

  /// One whose value is a word of the program's, or none.
  static func fixed(_ name: FixedName, _ value: StaticString = "") -> Attribute {
    Attribute(name.rawValue, value.description)
  }

  enum FixedName: String {
    case ariaCurrent = "aria-current"
    case ariaHidden = "aria-hidden"
    case ariaInvalid = "aria-invalid"
    case autocomplete
    case charset
    case dataExact = "data-exact"
    case dataPause = "data-pause"
    case dataState = "data-state"
    case dataZone = "data-zone"
    case focusable
    case hidden
    case inputMode = "inputmode"
    case language = "lang"
    case method
    case name
    case preserveAspectRatio
    case relation = "rel"
    case role
    case scope
    case selected
    case spellcheck
    case tabIndex = "tabindex"
    case type
    case viewBox
  }

  // MARK: Texts and numbers

  /// One whose value may be anything: nothing is fetched, run or drawn by it.
  static func text(_ name: TextName, _ value: String) -> Attribute { Attribute(name.rawValue, value) }

  enum TextName: String {
    case ariaLabel = "aria-label"
    case content
    case dataChart = "data-chart"
    case dataColumn = "data-column"
    case dataEmpty = "data-empty"
    case dataLabel = "data-label"
    case dataLive = "data-live"
    case dataNone = "data-none"
    case dataSome = "data-some"
    case dataEnd = "data-end"
    case dataTable = "data-table"
    case dataUnit = "data-unit"
    case dataStanding = "data-standing"
    case dateTime = "datetime"
    case name
    case placeholder
    case title
    case value
  }

  static func number(_ name: NumberName, _ value: Int) -> Attribute { Attribute(name.rawValue, "\(value)") }

  enum NumberName: String {
    case columnSpan = "colspan"
    case dataHours = "data-hours"
    case dataSpan = "data-span"
    case dataTop = "data-top"
    case fromX = "x1", fromY = "y1", toX = "x2", toY = "y2"
    case height
    case maximumLength = "maxlength"
    case width
    case x
    case y
  }

  /// A place on a drawing that is as wide as its page has room, in tenths of a per cent.
  static func share(_ name: NumberName, _ value: Int, of whole: Int) -> Attribute {
    let tenths = value * 1000 / max(whole, 1)
    return Attribute(name.rawValue, "\(tenths / 10).\(tenths % 10)%")
  }

  /// Of a square drawing whose rows are lines through their middles.
  /// - Parameter row: the first that is seen.
  static func viewBox(x: Int, aboveRow row: Int, size: Int) -> Attribute {
    Attribute("viewBox", "\(x) \(row).5 \(size) \(size)")
  }

  /// What a `path` of a drawing draws.
  static func drawing(_ outline: Outline) -> Attribute { Attribute("d", outline.text) }
}

/// The name of a place in a page, of the program's own words and numbers.
struct Anchor: Equatable, Sendable {
  let text: String

  init(_ word: StaticString) { text = word.description }
  init(_ word: StaticString, _ number: Int) { text = "\(word)-\(number)" }
  /// Of the program's own.
  init(words text: String) { self.text = text }
}
