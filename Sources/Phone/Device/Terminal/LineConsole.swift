/// The bottom of a terminal in a game: what the game says goes above what is being typed, which is taken away before and
/// drawn again after it. Pure: text and keys go in, bytes for the terminal come out.
internal import System

struct LineConsole {
  enum Input: Equatable {
    /// With its line feed.
    case line(String)
    case end
  }

  private var line = TypedLine()
  /// Where the game's text has ended, and what is typed begins.
  private var cursor: CursorColumn
  /// The game waits behind a prompt; what it says unasked belongs into a line of its own.
  private var isBehindPrompt = false
  /// The game's text has filled its line, and the cursor is in the next one already: a line end adds nothing.
  private var hasWrapped = false
  private var output: [UInt8] = []

  init(columns: Int) {
    cursor = CursorColumn(columns: max(1, columns))
  }

  mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  // MARK: From the game

  mutating func show(_ text: [UInt8]) {
    guard let first = text.first else { return }
    erase()
    if isBehindPrompt, cursor.column > 0, first != 0x0A, first != 0x0D { put([0x0A]) }
    isBehindPrompt = false
    var text = text[...]
    if hasWrapped, text.starts(with: [0x0D, 0x0A]) { text = text.dropFirst() }
    if hasWrapped, text.first == 0x0A { text = text.dropFirst() }
    put(Array(text))
    draw()
  }

  mutating func prompt() {
    isBehindPrompt = true
  }

  /// - Parameter isOn: the game echoes, or something is typed that nobody should see.
  mutating func echo(_ isOn: Bool) {
    guard isOn != line.isHidden else { return }
    erase()
    line.isHidden = isOn
    draw()
  }

  /// Leaves the cursor in an empty line, for what is not the game's; `draw` goes on behind that.
  mutating func makeWay() {
    erase()
    if cursor.column > 0 { put([0x0A]) }
    isBehindPrompt = false
  }

  /// Puts what is typed where the cursor is.
  mutating func draw() {
    if !line.isHidden { output += Array(line.text.utf8) }
  }

  // MARK: From the keyboard

  mutating func type(_ bytes: some Sequence<UInt8>) -> [Input] {
    var inputs: [Input] = []
    for byte in bytes {
      let before = line.text
      switch line.press(byte) {
      case .none: break
      case .added(let text): if !line.isHidden { output += Array(text.utf8) }
      case .changed:
        erase(before)
        draw()
      case .entered(let text):
        put([0x0A])
        isBehindPrompt = false
        inputs.append(.line(text + "\n"))
      case .end: inputs.append(.end)
      }
    }
    return inputs
  }

  mutating func resize(columns: Int) {
    // Terminals wrap anew what they show, each in its own way: what is typed starts in a line of its own.
    let columns = max(1, columns)
    guard columns != cursor.columns else { return }
    cursor.columns = columns
    if !line.text.isEmpty, !line.isHidden {
      put([0x0A])
      draw()
    }
  }

  // MARK: Parts of them

  /// Text that stays.
  private mutating func put(_ bytes: [UInt8]) {
    cursor.pass(bytes)
    hasWrapped = false
    output += bytes
  }

  private mutating func erase() {
    erase(line.text)
  }

  /// Takes away what was typed, back to where the game's text has ended.
  private mutating func erase(_ typed: String) {
    guard !line.isHidden, !typed.isEmpty else { return }
    let columns = cursor.columns
    var end = cursor.column
    var rows = 0
    for scalar in typed.unicodeScalars {
      let width = scalar.displayColumns
      if end + width > columns {
        rows += 1
        end = 0
      }
      end += width
    }
    // A full line is left with the first character behind it.
    var start = cursor.column
    if start >= columns {
      rows -= 1
      start = 0
    }
    if rows > 0 { output += Array("\u{1B}[\(rows)A".utf8) }
    output += Array((start > 0 ? "\r\u{1B}[\(start)C\u{1B}[J" : "\r\u{1B}[J").utf8)
    if cursor.column >= columns {
      cursor.pass([0x0A])
      hasWrapped = true
    }
  }
}
