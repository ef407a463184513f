/// The charsets that a game's text may be in, by the names that IANA, games and operators have for them.
///
/// All of them are without shift states, and below 0x80 all of them are ASCII.
package enum Charset: String, CaseIterable, Sendable {
  case utf8 = "UTF-8"
  case usASCII = "US-ASCII"
  case iso88591 = "ISO-8859-1"
  case iso88592 = "ISO-8859-2"
  case iso88593 = "ISO-8859-3"
  case iso88594 = "ISO-8859-4"
  case iso88595 = "ISO-8859-5"
  case iso88596 = "ISO-8859-6"
  case iso88597 = "ISO-8859-7"
  case iso88598 = "ISO-8859-8"
  case iso88599 = "ISO-8859-9"
  case iso885910 = "ISO-8859-10"
  case iso885911 = "ISO-8859-11"
  case iso885913 = "ISO-8859-13"
  case iso885914 = "ISO-8859-14"
  case iso885915 = "ISO-8859-15"
  case iso885916 = "ISO-8859-16"
  case windows1250 = "windows-1250"
  case windows1251 = "windows-1251"
  case windows1252 = "windows-1252"
  case windows1253 = "windows-1253"
  case windows1254 = "windows-1254"
  case windows1255 = "windows-1255"
  case windows1256 = "windows-1256"
  case windows1257 = "windows-1257"
  case koi8R = "KOI8-R"
  case koi8U = "KOI8-U"
  case cp437 = "CP437"
  case cp850 = "CP850"
  case cp866 = "CP866"
  case gbk = "GBK"
  case gb18030 = "GB18030"
  case big5 = "Big5"
  case eucJP = "EUC-JP"
  case eucKR = "EUC-KR"
  case shiftJIS = "Shift_JIS"

  /// The usual name of it, as it is put in front of a game and shown to an operator.
  package var name: String { rawValue }

  package var isUTF8: Bool { self == .utf8 }

  /// By its own name or another usual one. Case does not matter, nor does what is neither letter nor digit:
  /// `iso_8859-1` and `ISO8859-1` are the same (Unicode Technical Standard 22, "Charset Alias Matching").
  package init?(named name: some Sequence<UInt8>) {
    var key: [UInt8] = []
    for byte in name {
      switch byte {
      case 0x30...0x39, 0x61...0x7A: key.append(byte)
      case 0x41...0x5A: key.append(byte | 0x20)
      case 0x21...0x7E: break
      default: return nil
      }
      guard key.count <= Self.longestKey else { return nil }
    }
    guard let charset = Self.byKey[key] else { return nil }
    self = charset
  }

  package init?(named name: String) {
    self.init(named: name.utf8)
  }

  /// Letters and digits of the longest name below.
  private static let longestKey = 48

  private static let byKey: [[UInt8]: Charset] = {
    var table: [[UInt8]: Charset] = [:]
    for charset in allCases {
      let own = charset.name.utf8.filter { $0 != 0x2D && $0 != 0x5F }.map { $0 >= 0x41 ? $0 | 0x20 : $0 }
      for key in [own] + charset.otherNames.map({ Array($0.utf8) }) { table[key] = charset }
    }
    return table
  }()

  /// Beside its own name, by letters and digits alone: IANA's aliases of it, and what games and libraries write.
  private var otherNames: [String] {
    switch self {
    case .utf8: ["unicode11utf8", "csutf8"]
    case .usASCII:
      ["ascii", "us", "646", "iso646us", "iso646irv1991", "isoir6", "ansix341968", "ibm367", "cp367"]
    case .iso88591: ["latin1", "l1", "iso885911987", "isoir100", "ibm819", "cp819"]
    case .iso88592: ["latin2", "l2", "iso885921987", "isoir101"]
    case .iso88593: ["latin3", "l3", "iso885931988", "isoir109"]
    case .iso88594: ["latin4", "l4", "iso885941988", "isoir110"]
    case .iso88595: ["cyrillic", "iso885951988", "isoir144"]
    case .iso88596: ["arabic", "iso885961987", "isoir127", "ecma114", "asmo708"]
    case .iso88597: ["greek", "greek8", "iso885971987", "iso885972003", "isoir126", "elot928", "ecma118"]
    case .iso88598: ["hebrew", "iso885981988", "isoir138"]
    case .iso88599: ["latin5", "l5", "iso885991989", "isoir148"]
    case .iso885910: ["latin6", "l6", "iso8859101992", "isoir157"]
    case .iso885911: ["thai", "iso8859112001"]
    case .iso885913: ["latin7", "l7", "isoir179"]
    case .iso885914: ["latin8", "l8", "iso8859141998", "isoir199", "isoceltic"]
    case .iso885915: ["latin9", "l9", "isoir203"]
    case .iso885916: ["latin10", "l10", "iso8859162001", "isoir226"]
    case .windows1250: ["cp1250", "win1250"]
    case .windows1251: ["cp1251", "win1251"]
    case .windows1252: ["cp1252", "win1252"]
    case .windows1253: ["cp1253", "win1253"]
    case .windows1254: ["cp1254", "win1254"]
    case .windows1255: ["cp1255", "win1255"]
    case .windows1256: ["cp1256", "win1256"]
    case .windows1257: ["cp1257", "win1257"]
    case .koi8R: ["koi8", "cskoi8r"]
    case .koi8U: []
    case .cp437: ["ibm437", "437", "dos437"]
    case .cp850: ["ibm850", "850", "dos850"]
    case .cp866: ["ibm866", "866", "dos866"]
    case .gbk: ["cp936", "ms936", "windows936"]
    case .gb18030: ["gb180302000", "gb180302005"]
    case .big5: ["bigfive", "cnbig5", "csbig5"]
    case .eucJP: ["ujis", "extendedunixcodepackedformatforjapanese"]
    case .eucKR: ["cseuckr"]
    case .shiftJIS: ["sjis", "mskanji", "csshiftjis"]
    }
  }
}
