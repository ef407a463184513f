/// What a person is shown: characters that nobody sees are refused, and names that look alike are found to.
import Testing

@testable import DeviceWire

@Suite struct TextTests {
  /// At both ends of each range, and in the middle of a name.
  @Test(
    arguments: [
      0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180D, 0x180F, 0x3164, 0xFE00, 0xFE0E, 0xFE0F,
      0xFFA0,
      0xFFF9, 0xFFFB, 0x1BCA0, 0x1D173, 0xE0100, 0xE01EF,
    ] as [UInt32])
  func nobodySeesIt(_ value: UInt32) throws {
    let hidden = Character(try #require(Unicode.Scalar(value)))
    #expect(!ShownText.isClean("admin\(hidden)") && !ShownText.isClean("\(hidden)"))
    #expect(DeviceName("admin\(hidden)") == nil)
    // A store of before may have it, and a summary is read as the contract has it.
    #expect(DeviceName(stored: "admin\(hidden)") != nil && ShownText.isReadable("admin\(hidden)"))
    #expect("admin".looksLike("ad\(hidden)min"))
  }

  @Test(arguments: [
    "\u{2764}\u{FE0F}", "go \u{2764}\u{FE0F} \u{2014} \u{2713}", "\u{1F4F1} \u{2764}\u{FE0F} 2",
    "\u{1F1E6}\u{1F1F9}",
    "\u{1F44D}\u{1F3FD}", "Zo\u{EB}", "\u{5F20}\u{4E09}",
    "\u{0928}\u{092E}\u{0938}\u{094D}\u{0924}\u{0947}",
    "\u{D55C}\u{AE00}", "\u{A9}\u{FE0F}",
  ])
  func whatHonestPeopleWrite(_ text: String) { #expect(ShownText.isClean(text)) }

  /// The selector of pictures changes what is seen behind an emoji, and nowhere else.
  @Test(arguments: [
    "a\u{FE0F}", "1\u{FE0F}", "\u{2764}\u{FE0F}\u{FE0F}", "\u{2764} \u{FE0F}",
    "\u{2764}\u{FE0E}",
  ])
  func aSelectorThatSelectsNothing(_ text: String) { #expect(!ShownText.isClean(text)) }

  @Test(arguments: [
    ("nag1", "nag1 "), ("nag1", "nag\u{00AD}1"), ("nag1", "nagl"), ("nag1", "NAG1"),
    ("admin", "\u{0430}dmin"),
    ("admin", "\u{FF41}dmin"), ("admin", "\u{1D41A}dmin"), ("root", "r\u{043E}\u{03BF}t"), ("x0", "xO"),
    ("Ill", "lIl"), ("Zo\u{EB}", "Zoe\u{308}"), ("a b", "a\u{3000}b"), ("uid:1", "uid: 1"),
  ])
  func theyLookAlike(_ one: String, _ other: String) {
    #expect(one.looksLike(other) && other.looksLike(one))
  }

  @Test(arguments: [
    ("nag1", "nag2"), ("Jose", "Jos\u{E9}"), ("anna", "ana"), ("uid:1", "uid:10"), ("", "a"), ("web", "wed"),
    ("\u{041C}\u{0438}\u{0440}", "\u{041C}\u{043E}\u{0440}"),
  ])
  func theyDiffer(_ one: String, _ other: String) { #expect(!one.looksLike(other)) }
}
