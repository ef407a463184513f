/// What commands show at a terminal: columns, colour, and times in words.
import System
import Testing
import Time

@testable import Prompt

@Suite struct TextTableTests {
  private func table(_ rows: [[TextTable.Cell]]) -> TextTable {
    var table = TextTable([
      .init("KEY"), .init("BYTES", isNumber: true), .init("NAME", canBeCut: true), .init("STATE"),
    ])
    for row in rows { table.add(row) }
    return table
  }

  @Test func columnsAreAsWideAsWhatStandsInThem() {
    var table = table([["a", "1,024", "Anna", "active"], ["bcdef", "7", "-", ""]])
    #expect(
      table.take(in: nil, .none) == [
        "KEY    BYTES  NAME  STATE", "a      1,024  Anna  active", "bcdef      7  -",
      ])
  }

  /// An operator's names may be in any script: two columns for each of these, none for an accent of its own.
  @Test func widthIsThatOfTheTerminal() {
    var table = table([["電話", "1", "e\u{301}", "x"], ["abcd", "1", "ee", "y"]])
    #expect(table.take(in: nil, .none).dropFirst() == ["電話      1  e\u{301}     x", "abcd      1  ee    y"])
  }

  @Test(arguments: [(80, "aaaaaaaaaaaaaaaaaaaa"), (31, "aaaaaaaa…"), (10, "aaaaaaa…")])
  func whatMayBeCutIsCut(window: Int, name: String) {
    var table = table([["abcd", "1", .init(String(repeating: "a", count: 20)), "pending"]])
    let line = table.take(in: window, .none)[1]
    #expect(line.split(separator: " ").map(String.init) == ["abcd", "1", name, "pending"])
    // Below eight columns nothing is cut: what is left would say nothing.
    #expect(line.displayColumns == max(min(window, 42), 30))
  }

  @Test func laterRowsKeepTheColumnsAndHaveNoHeading() {
    var table = table([["abcdefgh", "1", "x", "y"]])
    #expect(table.take(in: nil, .none).count == 2 && table.count == 0)
    table.add(["a", "22", "x", "y"])
    #expect(table.take(in: nil, .none) == ["a            22  x     y"])
  }

  @Test func colourTakesNoRoom() {
    var plain = table([["a", "1", .init("x", .good), "y"], ["a", "1", .init("xyz", .bad), "y"]])
    var painted = plain
    let lines = painted.take(in: nil, Paint(isOn: true))
    #expect(lines[1].contains("\u{1B}[32mx\u{1B}[0m     y"))
    let stripped = lines.map { $0.replacing(/\u{1B}\[[0-9]+m/, with: "") }
    #expect(stripped == plain.take(in: nil, .none))
  }
}

@Suite struct PaintTests {
  @Test(
    arguments: [
      (true, ["TERM": "xterm"], true), (false, ["TERM": "xterm"], false), (true, ["TERM": "dumb"], false),
      (true, [:], false), (true, ["TERM": "xterm", "NO_COLOR": "1"], false),
      (true, ["TERM": "xterm", "NO_COLOR": ""], true),
    ] as [(Bool, [String: String], Bool)])
  func colourIsForTerminalsThatHaveIt(isTerminal: Bool, environment: [String: String], isWanted: Bool) {
    #expect(Paint.isWanted(onTerminal: isTerminal, environment) == isWanted)
  }

  @Test func nothingStandsAroundPlainText() {
    #expect(Paint.none("x", .bad) == "x" && Paint(isOn: true)("x", nil) == "x")
    #expect(Paint(isOn: true)("x", .bad) == "\u{1B}[31mx\u{1B}[0m" && Paint(isOn: true)("", .bad) == "")
  }
}

@Suite struct WordingTests {
  private let now = UnixTime(milliseconds: 1_800_000_000_000)

  @Test(
    arguments: [
      (0, "now"), (-59, "59 s ago"), (-60, "1 min ago"), (-3599, "59 min ago"), (-7200, "2 h ago"),
      (-86_400 * 1234, "1,234 d ago"), (59, "in 59 s"), (240, "in 4 min"), (86_400, "in 1 d"),
    ] as [(Int64, String)])
  func timesAreRelative(seconds: Int64, text: String) {
    #expect(Wording.relative(UnixTime(milliseconds: now.milliseconds + seconds * 1000), to: now) == text)
  }

  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("電話番号", 8, "電話番号"), ("電話番号", 7, "電話番…"), ("電話番号", 6, "電話…"),
  ])
  func cutsFitTheirColumns(text: String, columns: Int, cut: String) {
    let found = Wording.cut(text, toColumns: columns)
    #expect(found == cut && found.displayColumns <= columns)
  }

  @Test func aKeyIsFoundByWhatIsShownOfIt() {
    #expect(Wording.beginning(ofKey: "TQ9cOWQ9acHRlAMo09m4J5t18zfQuKsKtQ4ypNPJNog=") == "TQ9cOWQ9")
  }
}
