import Testing

@testable import Configuration

@Suite struct EnvironmentFileTests {
  func parse(_ text: String) -> EnvironmentFile { EnvironmentFile(parsing: Array(text.utf8).span) }

  @Test(arguments: [
    ("A=b", "b"), ("A=b\n", "b"), ("A=b\r\n", "b"), ("A=", ""), ("A= ", ""), ("A= # none", ""),
    ("  A=b  ", "b"),
    ("export A=b", "b"), ("export\tA=b", "b"), ("A=b c", "b c"), ("A=b # comment", "b"), ("A=b#c", "b#c"),
    ("A=#c", "#c"),
    ("A=b=c", "b=c"), ("A='b'", "b"), ("A=''", ""), ("A='b # c'", "b # c"), ("A='b\"$c\\n'", "b\"$c\\n"),
    ("A='b' # c", "b"), ("A=\"b\"", "b"), ("A=\"\"", ""),
    ("A=\"b\\\"c\\\\d\\$e\\nf\\tg\"", "b\"c\\d$e\nf\tg"),
    ("A=\"b # c\"  ", "b # c"), ("A=\"it's\"", "it's"), ("A=$HOME/x", "$HOME/x"), ("A=b\\c", "b\\c"),
    ("A=\u{E9}", "\u{E9}"), ("\u{FEFF}A=b", "b"), ("# c\n\n \nA=b", "b"), ("A=\"b\"\t# c", "b"),
  ])
  func values(text: String, value: String) {
    let file = parse(text)
    #expect(file.errors.isEmpty)
    #expect(file.entries.map(\.name) == ["A"])
    #expect(file.entries.map(\.value) == [value])
  }

  @Test(arguments: [
    ("A", EnvironmentFile.Rule.notAnAssignment), ("export A", .notAnAssignment),
    ("exportA=b\u{1}", .controlCharacter),
    ("1A=b", .malformedName), ("A-B=c", .malformedName), ("=b", .malformedName), ("A.B=c", .malformedName),
    ("A B=c", .malformedName), ("A =b", .blankBeforeValue), ("A= b", .blankBeforeValue),
    ("A='b", .unterminatedQuote),
    ("A=\"b", .unterminatedQuote), ("A=\"b\\\"", .unterminatedQuote), ("A=b'c", .quoteInsideValue),
    ("A=b\"c\"", .quoteInsideValue), ("A=\"\\x\"", .unknownEscape), ("A=\"\\r\"", .unknownEscape),
    ("A='b'c", .textAfterQuote), ("A='b'#c", .textAfterQuote), ("A=\"b\"c", .textAfterQuote),
    ("A=b\rc", .controlCharacter),
    ("A=\0", .controlCharacter), ("# \u{1B}", .controlCharacter), ("A=\u{7F}", .controlCharacter),
    ("export =b", .malformedName), ("\u{E9}=b", .malformedName),
  ])
  func refused(text: String, rule: EnvironmentFile.Rule) {
    let file = parse("B=c\n\(text)\nC=d\n")
    #expect(file.errors.map(\.line) == [2] && file.errors.map(\.rule) == [rule])
    #expect(file.entries.map(\.name) == ["B", "C"])
  }

  @Test func aNameComesOnce() {
    let file = parse("A=b\nB=c\nA=d\n")
    let error = EnvironmentFile.LineError(line: 3, name: "A", value: "d", rule: .duplicateName(firstLine: 1))
    #expect(file.errors == [error])
    #expect(file.entries.map(\.value) == ["b", "c"])
  }

  /// A message names the setting and shows its value; that of an unknown name may be a secret.
  @Test(arguments: [
    (
      "WORKERS=1\nWORKERS=2",
      "WORKERS=2 (gate.env:2) is set a second time, after line 1: remove one of the two"
    ),
    (
      "LISTEN = a:1",
      "LISTEN=\" a:1\" (gate.env:1) has a blank beside the =: write NAME=value without blanks around the ="
    ),
    (
      "export BACKEND='a:1", "BACKEND='a:1 (gate.env:1) has a quote that is not closed on the line: close it"
    ),
    (
      "BACKEND=a\"b",
      "BACKEND=\"a\\\"b\" (gate.env:1) has a quote inside a bare value: put the whole value in quotes"
    ),
    ("X= hunter2", "X (gate.env:1) has a blank beside the =: write NAME=value without blanks around the ="),
    (
      "A-B=hunter2",
      "gate.env:1 has a name with other characters than letters, digits and _: write NAME=value, or begin "
        + "the line with #"
    ),
  ])
  func whatIsWrongWithALineIsNamed(text: String, message: String) {
    #expect(problems(file: text).map(\.description) == [message])
  }

  @Test func invalidUTF8() {
    let file = EnvironmentFile(parsing: ([0x41, 0x3D, 0xFF, 0x0A, 0x23, 0xC0] as [UInt8]).span)
    #expect(file.errors.map(\.rule) == [.notUTF8, .notUTF8])
  }

  @Test func size() {
    let comment = [UInt8](repeating: UInt8(ascii: "#"), count: EnvironmentFile.longestFile)
    let longest = EnvironmentFile(parsing: comment.span)
    #expect(longest.errors.isEmpty)
    let longer = EnvironmentFile(parsing: (comment + [0x23]).span)
    #expect(longer.errors == [EnvironmentFile.LineError(line: 0, rule: .tooLong)])
  }

  @Test func aFileOfSomethingElseIsGivenUp() {
    let file = parse(String(repeating: "x\n", count: 1000))
    #expect(file.errors.count == EnvironmentFile.mostErrors)
    let found = problems(file: String(repeating: "x\n", count: 1000))
    #expect(found.count == EnvironmentFile.mostErrors + 1)
  }

  @Test func linesAreCountedFromOne() {
    #expect(parse("\r\n# c\r\nA=b\r\n").entries.map(\.line) == [3])
  }
}
