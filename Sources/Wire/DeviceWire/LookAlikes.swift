/// Letters that look like others (UTS #39, confusables): those of the scripts that are met beside Latin, full-width and
/// mathematical letters, and the digits that are taken for letters.

enum LookAlikes {
  /// The small Latin letter or the digit that it looks like; itself where it looks like none.
  static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    case 0x41...0x5A where scalar != "I", 0xFF21...0xFF3A where scalar.value != 0xFF29:
      ascii(0x61 + (scalar.value & 0x1F) - 1)
    case 0xFF41...0xFF5A: ascii(scalar.value - 0xFEE0)
    case 0x31, 0x49, 0x7C, 0xFF11, 0xFF29, 0xFF5C, 0x2160, 0x217C: "l"
    case 0x30, 0xFF10: "o"
    case 0xFF01...0xFF5E: ascii(scalar.value - 0xFEE0)
    case 0x1D400...0x1D6A3: ascii(0x61 + (scalar.value - 0x1D400) % 26)
    case 0x1D7CE...0x1D7FF: plain(ascii(0x30 + (scalar.value - 0x1D7CE) % 10))
    default: others[scalar] ?? scalar
    }
  }

  private static func ascii(_ value: UInt32) -> Unicode.Scalar {
    Unicode.Scalar(UInt8(truncatingIfNeeded: value))
  }

  /// Cyrillic, Greek and a dotless i, by the letters that they look like.
  private static let others: [Unicode.Scalar: Unicode.Scalar] = {
    let rows: [(Unicode.Scalar, String)] = [
      ("a", "\u{0410}\u{0430}\u{0391}\u{03B1}"), ("b", "\u{0412}\u{0392}"),
      ("c", "\u{0421}\u{0441}\u{03F2}"),
      ("d", "\u{0501}"), ("e", "\u{0415}\u{0435}\u{0395}"), ("h", "\u{041D}\u{0397}\u{04BB}"),
      ("i", "\u{0456}\u{03B9}\u{0131}"), ("j", "\u{0408}\u{0458}\u{03F3}"), ("k", "\u{041A}\u{039A}\u{03BA}"),
      ("l", "\u{0406}\u{0399}\u{04C0}\u{04CF}"), ("m", "\u{041C}\u{039C}"), ("n", "\u{039D}"),
      ("o", "\u{041E}\u{043E}\u{039F}\u{03BF}"), ("p", "\u{0420}\u{0440}\u{03A1}\u{03C1}"),
      ("s", "\u{0405}\u{0455}"), ("t", "\u{0422}\u{03A4}"), ("u", "\u{03C5}"), ("v", "\u{03BD}"),
      ("x", "\u{0425}\u{0445}\u{03A7}"), ("y", "\u{0423}\u{0443}\u{03A5}"), ("z", "\u{0396}"),
    ]
    return Dictionary(
      rows.flatMap { row in row.1.unicodeScalars.map { ($0, row.0) } },
      uniquingKeysWith: { first, _ in first })
  }()
}
