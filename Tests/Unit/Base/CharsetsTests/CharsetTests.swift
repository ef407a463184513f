import Charsets
import Testing

@Suite struct CharsetTests {
  @Test(arguments: Charset.allCases) func isFoundByItsName(charset: Charset) {
    #expect(Charset(named: charset.name) == charset)
    #expect(Charset(named: charset.name.lowercased()) == charset)
    #expect(Charset(named: charset.name.uppercased()) == charset)
  }

  /// As games offer them by CHARSET, and operators write them.
  @Test(arguments: [
    ("utf8", Charset.utf8), ("UTF-8", .utf8), ("Utf_8", .utf8), ("ASCII", .usASCII),
    ("ANSI_X3.4-1968", .usASCII),
    ("LATIN1", .iso88591), ("latin-1", .iso88591), ("ISO8859-1", .iso88591), ("ISO_8859-1:1987", .iso88591),
    ("iso_8859-11", .iso885911), ("ISO-8859-15", .iso885915), ("Latin-9", .iso885915), ("l10", .iso885916),
    ("CP1251", .windows1251), ("WINDOWS-1251", .windows1251), ("win-1251", .windows1251), ("IBM437", .cp437),
    ("437", .cp437), ("cp866", .cp866), ("koi8-r", .koi8R), ("KOI8U", .koi8U), ("cp936", .gbk),
    ("BIG-5", .big5),
    ("eucjp", .eucJP), ("EUC_KR", .eucKR), ("SJIS", .shiftJIS), ("shift-jis", .shiftJIS),
    ("Extended_UNIX_Code_Packed_Format_for_Japanese", .eucJP),
  ])
  func isFoundByUsualNames(name: String, charset: Charset) {
    #expect(Charset(named: name) == charset)
  }

  @Test(arguments: [
    "", "-", "UTF-16", "UTF-7", "UTF", "ISO-8859", "ISO-8859-12", "ISO-8859-17", "windows-1258",
    "ISO-2022-JP",
    "HZ-GB-2312", "KOI8-RU", "UTF-8 ", "UTF-8\n", "UTF-8\u{0}", "UTF\u{2D0}8", "UTF-8//TRANSLIT",
    "utf8,latin1",
    String(repeating: "a", count: 10_000),
  ])
  func isNotFoundByOthers(name: String) {
    #expect(Charset(named: name) == nil)
  }

  @Test func thereAreAsManyAsPromised() {
    #expect(Charset.allCases.count == 36)
    #expect(Charset.allCases.filter(\.isUTF8) == [.utf8])
  }
}
