/// Apple's App ID, `<team>.<bundle>`: what `rpIdHash` is the SHA-256 of (Apple, "Validating apps that connect
/// to your server", step 6).
package struct AppID: Hashable, Sendable, CustomStringConvertible {
  package let teamID: String
  package let bundleID: String

  /// Nil when a part is malformed; see `isTeamID` and `isBundleID`.
  package init?(teamID: String, bundleID: String) {
    guard Self.isTeamID(teamID), Self.isBundleID(bundleID) else { return nil }
    self.teamID = teamID
    self.bundleID = bundleID
  }

  /// From `TEAM.bundle`: the team ends at the first dot.
  package init?(_ text: String) {
    guard let dot = text.firstIndex(of: ".") else { return nil }
    self.init(teamID: String(text[..<dot]), bundleID: String(text[text.index(after: dot)...]))
  }

  package var description: String { "\(teamID).\(bundleID)" }

  /// Whether Apple could have given this team identifier: ten characters of `A-Z` and `0-9`.
  package var hasAppleTeamID: Bool {
    teamID.utf8.count == 10
      && teamID.utf8.allSatisfy { byte in
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      }
  }

  /// Letters and digits, at most 64. Apple's own have ten; shorter ones serve tests, and are warned of.
  static func isTeamID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(isLetterOrDigit)
  }

  /// Letters, digits, `-` and `.` (CFBundleIdentifier), no empty part, at most 255.
  static func isBundleID(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
      }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
