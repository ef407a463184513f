/// Apple's App ID, `<team id>.<bundle id>`, and the hash by which authenticator data names it
/// (Apple, "Validating apps that connect to your server", step 6).
package import Bytes
internal import Crypto

package struct AppID: Hashable, Sendable, CustomStringConvertible {
  package let teamID: String
  package let bundleID: String
  package let description: String
  /// SHA-256 of `description`.
  package let rpIDHash: Bytes32

  /// Nil when a part is malformed; see `isTeamID` and `isBundleID`.
  package init?(teamID: String, bundleID: String) {
    guard Self.isTeamID(teamID), Self.isBundleID(bundleID) else { return nil }
    self.teamID = teamID
    self.bundleID = bundleID
    description = "\(teamID).\(bundleID)"
    rpIDHash = SHA256.hash(description.utf8.span)
  }

  /// From `TEAM.bundle`; the bundle id begins after the first full stop.
  package init?(_ text: String) {
    guard let separator = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    self.init(
      teamID: String(text[..<separator]), bundleID: String(text[text.utf8.index(after: separator)...]))
  }

  /// Both are ASCII, so equal strings are equal bytes.
  package static func == (left: Self, right: Self) -> Bool { left.rpIDHash == right.rpIDHash }
  package func hash(into hasher: inout Hasher) { hasher.combine(rpIDHash) }

  /// Ten of A-Z and 0-9, as Apple gives them to every team: no device's app id begins otherwise.
  package static func isTeamID(_ text: String) -> Bool {
    text.utf8.count == teamIDLength && text.utf8.allSatisfy(isTeamCharacter)
  }

  /// Parts between full stops, none of them empty, of A-Z, a-z, 0-9, `-` and `_` (CFBundleIdentifier; the underscore
  /// is in Apple's own `com.apple.example_app_attest`), together at most 155 characters.
  package static func isBundleID(_ text: String) -> Bool {
    text.utf8.count <= longestBundleID
      && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && part.allSatisfy(isBundleCharacter)
      }
  }

  package static let teamIDLength = 10
  /// What Apple lets a bundle id have.
  package static let longestBundleID = 155

  private static func isTeamCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func isBundleCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: isTeamCharacter(byte)
    }
  }
}
