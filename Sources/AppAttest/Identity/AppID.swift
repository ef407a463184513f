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

  /// Nil unless the team id is ten of A-Z and 0-9, and the bundle id 1 to 155 of A-Z, a-z, 0-9, `.`, `-` and
  /// `_`.
  package init?(teamID: String, bundleID: String) {
    guard teamID.utf8.count == 10, teamID.utf8.allSatisfy(Self.isTeamCharacter),
      (1...155).contains(bundleID.utf8.count), bundleID.utf8.allSatisfy(Self.isBundleCharacter)
    else { return nil }
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

  private static func isTeamCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }

  private static func isBundleCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: isTeamCharacter(byte)
    }
  }
}
