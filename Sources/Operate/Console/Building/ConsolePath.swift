/// An address within the console: it begins with a slash of the program's own, and what else it is made of is encoded
/// (RFC 3986 §2.1), so that no text of a peer's leads anywhere else.
internal import Prompt

struct ConsolePath: Equatable, Sendable {
  /// As it stands in a link or in `Location`.
  let text: String

  private static let longestPart = 256

  init(_ fixed: StaticString) {
    text = fixed.description
  }

  /// Of the page that the entry leads to.
  init(_ entry: MenuEntry) {
    text = entry == .overview ? "/" : "/\(entry.rawValue)"
  }

  private init(encoded text: String) {
    self.text = text
  }

  /// With one more segment.
  func appending(_ segment: some StringProtocol) -> ConsolePath {
    ConsolePath(encoded: text + "/" + Self.encoded(segment))
  }

  func appending(_ number: Int) -> ConsolePath { ConsolePath(encoded: "\(text)/\(number)") }

  /// With one more field of its query.
  func asking(_ name: StaticString, _ value: some StringProtocol) -> ConsolePath {
    ConsolePath(
      encoded: "\(text)\(text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")\(name)=\(Self.encoded(value))")
  }

  /// The same, and none for what is not there.
  func asking(_ name: StaticString, optional value: String?) -> ConsolePath {
    guard let value, !value.isEmpty else { return self }
    return asking(name, value)
  }

  /// Where a change leads back to.
  func after(_ done: DoneWord) -> ConsolePath { asking("done", done.rawValue) }

  private static func encoded(_ text: some StringProtocol) -> String {
    // They would lead up, encoded too (WHATWG URL, "double-dot URL path segment"), and name nothing here.
    if text == "." || text == ".." { return "-" }
    var encoded: [UInt8] = []
    // Nothing here has a longer name, or is looked for by more.
    for byte in Wording.cut(text, to: longestPart).utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.append(byte)
      default:
        encoded.append(UInt8(ascii: "%"))
        for digit in [byte >> 4, byte & 0x0F] {
          encoded.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
        }
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}

// MARK: Places

extension ConsolePath {
  static let overview = ConsolePath("/")
  static let hours = ConsolePath("/hours")
  static let sessions = ConsolePath("/sessions")
  static let keys = ConsolePath("/keys")
  static let devices = ConsolePath("/devices")
  static let approvals = ConsolePath("/approvals")
  static let refusals = ConsolePath("/refusals")
  static let audit = ConsolePath("/audit")
  static let configuration = ConsolePath("/configuration")
  static let drain = ConsolePath("/drain")
  static let pair = ConsolePath("/devices/pair")
  static let search = ConsolePath("/search")
  static let signIn = ConsolePath("/sign-in")
  static let signOut = ConsolePath("/sign-out")

  static func session(_ number: Int) -> ConsolePath { sessions.appending(number) }
  /// - Parameter id: in base64; in an address it stands in base64url without padding (RFC 4648 §5).
  static func key(_ id: String) -> ConsolePath { keys.appending(urlForm(id)) }
  static func device(_ id: String) -> ConsolePath { devices.appending(id) }
  static func approval(_ id: String) -> ConsolePath { approvals.appending(id) }

  private static func urlForm(_ base64: String) -> String {
    String(
      base64.prefix { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }
}
