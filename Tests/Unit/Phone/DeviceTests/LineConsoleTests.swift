/// What a player sees at a terminal: the game's text as the game sent it, and below it what is being typed.
import Kit
import System
import Testing

@testable import Device

/// A terminal with as many rows as it takes: text, line ends, and the sequences that the console uses.
private struct Screen {
  let columns: Int
  private(set) var rows: [[Character]] = [[]]
  private var row = 0
  private var column = 0

  init(columns: Int) {
    self.columns = columns
  }

  mutating func take(_ bytes: [UInt8]) {
    var rest = Substring(String(decoding: bytes, as: UTF8.self))
    while let character = rest.popFirst() {
      switch character {
      case "\r\n", "\n":
        row += 1
        column = 0
      case "\r": column = 0
      case "\u{1B}":
        rest = rest.dropFirst()
        let digits = rest.prefix { $0.isNumber || $0 == ";" }
        rest = rest.dropFirst(digits.count)
        obey(rest.popFirst() ?? "?", Int(digits) ?? 0)
      default: put(character)
      }
      while rows.count <= row { rows.append([]) }
    }
  }

  private mutating func obey(_ command: Character, _ count: Int) {
    switch command {
    case "A": row = max(0, row - count)
    case "C": column = min(columns - 1, column + count)
    case "J":
      rows.removeSubrange((row + 1)...)
      rows[row] = Array(rows[row].prefix(column))
    case "m": break
    default: Issue.record("the console sent \(command)")
    }
  }

  private mutating func put(_ character: Character) {
    let width = character.unicodeScalars.first?.displayColumns ?? 1
    if column + width > columns {
      row += 1
      column = 0
    }
    while rows.count <= row { rows.append([]) }
    while rows[row].count < column { rows[row].append(" ") }
    // A wide character takes two places, of which the second is empty.
    rows[row].replaceSubrange(
      column..<min(rows[row].count, column + width),
      with: [character] + Array(repeating: "\0", count: width - 1))
    column += width
  }

  /// Without the empty rows at the end.
  var lines: [String] {
    var lines = rows.map { String($0.filter { $0 != "\0" }) }
    while lines.last == "" { lines.removeLast() }
    return lines
  }
}

/// The console on its screen.
private struct Desk {
  var console: LineConsole
  var screen: Screen
  var lines: [String] = []
  var isAtEnd = false

  init(columns: Int = 20) {
    console = LineConsole(columns: columns)
    screen = Screen(columns: columns)
  }

  mutating func show(_ text: String) {
    console.show(Array(text.utf8))
    screen.take(console.takeOutput())
  }

  mutating func type(_ text: String) {
    for input in console.type(text.utf8) {
      switch input {
      case .line(let line): lines.append(line)
      case .end: isAtEnd = true
      }
    }
    screen.take(console.takeOutput())
  }

  mutating func prompt() { console.prompt() }

  mutating func echo(_ isOn: Bool) {
    console.echo(isOn)
    screen.take(console.takeOutput())
  }
}

@Suite struct LineConsoleTests {
  @Test func aLineIsTypedBehindAPrompt() {
    var desk = Desk()
    desk.show("Hello.\r\n> ")
    desk.prompt()
    desk.type("look\n")
    #expect(desk.lines == ["look\n"])
    desk.show("A room.\r\n> ")
    #expect(desk.screen.lines == ["Hello.", "> look", "A room.", "> "])
  }

  @Test func whatTheGameSaysDoesNotBreakWhatIsTyped() {
    var desk = Desk()
    desk.show("> ")
    desk.prompt()
    desk.type("nor")
    desk.show("A crow caws.\r\n> ")
    desk.prompt()
    desk.type("th\n")
    #expect(desk.lines == ["north\n"])
    #expect(desk.screen.lines == ["> ", "A crow caws.", "> north"])
  }

  @Test func aGameThatBeginsALineItselfGetsNoSecondOne() {
    var desk = Desk()
    desk.show("> ")
    desk.prompt()
    desk.show("\r\nA crow caws.\r\n> ")
    #expect(desk.screen.lines == ["> ", "A crow caws.", "> "])
  }

  @Test func aLineThatIsNotWholeGoesOn() {
    var desk = Desk()
    desk.show("A cr")
    desk.type("x")
    desk.show("ow.\r\n")
    #expect(desk.screen.lines == ["A crow.", "x"])
  }

  @Test func passwordsAreHiddenAndNotBroughtBack() {
    var desk = Desk(columns: 40)
    desk.type("conn")
    desk.show("Password: ")
    desk.echo(true)
    desk.type("ect secret\n")
    desk.echo(false)
    desk.type("\u{1B}[A")
    #expect(desk.lines == ["connect secret\n"])
    #expect(desk.screen.lines == ["Password: "])
    desk.type("hello")
    #expect(desk.screen.lines == ["Password: ", "hello"])
  }

  @Test func keysThatEdit() {
    var desk = Desk(columns: 40)
    desk.type("one two\u{17}three\u{7F}\u{8}é\u{7F}\n")
    desk.type("drop this\u{15}keep\u{1}\t\u{1B}[C\u{1B}OC\n")
    desk.type("\u{1B}[A\u{1B}[A\u{1B}[A\n\u{1B}[A\u{1B}[B\u{4}")
    #expect(desk.lines == ["one thr\n", "keep\n", "one thr\n"])
    #expect(desk.isAtEnd)
    #expect(desk.screen.lines == ["one thr", "keep", "one thr"])
  }

  @Test func theEndIsNotInTheMiddle() {
    var desk = Desk()
    desk.type("a\u{4}\n")
    #expect(!desk.isAtEnd && desk.lines == ["a\n"])
  }

  @Test func charactersComeInPieces() {
    var console = LineConsole(columns: 20)
    var lines: [LineConsole.Input] = []
    for byte in Array("é😀\n".utf8) { lines += console.type([byte]) }
    // A byte that belongs to no character, and a character that is broken off.
    lines += console.type([0x80, 0xC3, 0x61, 0xFF, 0x62, 0x0A])
    #expect(lines == [.line("é😀\n"), .line("ab\n")])
  }

  @Test func linesAreBounded() {
    var console = LineConsole(columns: 20)
    let inputs = console.type([UInt8](repeating: 0x61, count: 100_000) + [0x0A])
    #expect(inputs == [.line(String(repeating: "a", count: 4_096) + "\n")])
  }

  @Test func aNoticeGetsALineOfItsOwn() {
    var desk = Desk()
    desk.show("> ")
    desk.type("nor")
    desk.console.makeWay()
    desk.screen.take(desk.console.takeOutput() + Array("lost\n".utf8))
    desk.console.draw()
    desk.screen.take(desk.console.takeOutput())
    #expect(desk.screen.lines == ["> ", "lost", "nor"])
  }

  /// Whatever is said and typed, in whatever order: the screen is what the game said, with what is typed at its end.
  @Test(arguments: [5, 8, 20]) func anyOrder(columns: Int) {
    var random = SplitMix(seed: UInt64(columns))
    let words = [
      "a crow ", "caws", "\r\n", "> ", "\u{1B}[1;31mred\u{1B}[0m", "漢字 ", "é", "wide wide wide line ",
    ]
    for _ in 0..<300 {
      var desk = Desk(columns: columns)
      var said = ""
      var typed = ""
      var story: [String] = []
      for _ in 0..<12 {
        if Bool.random(using: &random) {
          let word = words.randomElement(using: &random) ?? ""
          said += word
          desk.show(word)
          story.append("say \(word.debugDescription)")
        } else {
          let key = ["x", "yz ", "字", "\u{7F}"].randomElement(using: &random) ?? ""
          if key == "\u{7F}" { _ = typed.popLast() } else { typed += key }
          desk.type(key)
          story.append("type \(key.debugDescription)")
        }
      }
      var expected = Screen(columns: columns)
      expected.take(Array((said + typed).utf8))
      #expect(desk.screen.lines == expected.lines, "\(story)")
    }
  }
}
