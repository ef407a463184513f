/// Authenticator data (WebAuthn Level 3 §6.1) and the launch information of iOS 27 in it.
import Testing

@testable import AppAttest
@testable import Bytes
@testable import CBOR

@Suite struct AuthenticatorDataTests {
  @Test func head() throws {
    let bytes = [UInt8](0..<32) + [0xC0, 0x01, 0x02, 0x03, 0x04]
    let parsed = AuthenticatorData(bytes.span)
    let data = try #require(parsed)
    #expect(data.rpIDHash.array == [UInt8](0..<32))
    #expect(data.signCount == 0x0102_0304)
    #expect(data.announcesCredential && data.announcesExtensions)
    for count in 0..<37 {
      let short = Array(bytes[..<count])
      let none = AuthenticatorData(short.span)
      #expect(none == nil)
    }
  }

  /// nil: refused.
  static func read(_ bytes: [UInt8], isFlagged: Bool) -> (UInt32?, String?)? {
    LaunchInformation(extensions: bytes.span, isFlagged: isFlagged).map {
      ($0.validationCategory, $0.bundleVersion)
    }
  }

  static func map(_ pairs: [(String, [UInt8])]) -> [UInt8] {
    var map = CBOREncoder()
    map.beginMap(pairs: pairs.count)
    return pairs.reduce(map.bytes) { bytes, pair in
      var key = CBOREncoder()
      key.append(text: pair.0)
      return bytes + key.bytes + pair.1
    }
  }

  static let category = "apple_validation_category_01"
  static let version = "apple_bundle_version_01"

  static let categoryTable: [(value: [UInt8], category: UInt32?)] = [
    ([0x44, 0x06, 0, 0, 0], 6), ([0x44, 0xFF, 0xFF, 0xFF, 0xFF], .max), ([0x04], 4), ([0x00], 0),
    ([0x1A, 0xFF, 0xFF, 0xFF, 0xFF], .max), ([0x1B, 0, 0, 0, 1, 0, 0, 0, 0], nil), ([0x43, 6, 0, 0], nil),
    ([0x45, 6, 0, 0, 0, 0], nil), ([0x40], nil), ([0x20], nil), ([0x61, 0x34], nil), ([0x81, 0x04], nil),
    ([0xA0], nil),
    ([0xF5], nil), ([0x18, 0x04], nil),
  ]

  @Test(arguments: categoryTable)
  func categories(value: [UInt8], category: UInt32?) {
    let read = Self.read(Self.map([(Self.category, value)]), isFlagged: true)
    #expect(read?.0 == category)
    #expect((read == nil) == (category == nil))
  }

  static let versionTable: [(value: [UInt8], version: String?)] = [
    ([0x60], ""), ([0x63, 0x31, 0x2E, 0x30], "1.0"), ([0x43, 0x31, 0x2E, 0x30], nil), ([0x61, 0xC3], nil),
    ([0x01], nil),
  ]

  @Test(arguments: versionTable)
  func versions(value: [UInt8], version: String?) {
    let read = Self.read(Self.map([(Self.version, value)]), isFlagged: false)
    #expect(read?.1 == version)
    #expect((read == nil) == (version == nil))
  }

  struct Members: Sendable {
    let pairs: [(String, [UInt8])]
    let flagged: Bool
    let unflagged: Bool
  }

  /// Which members are tolerated with and without the ED flag.
  static let memberTable = [
    Members(pairs: [(category, [0x04])], flagged: true, unflagged: true),
    Members(pairs: [(category, [0x04]), ("other", [0x00])], flagged: true, unflagged: false),
    Members(pairs: [("apple_cd_hash_type_01", [0x41, 0x02])], flagged: true, unflagged: true),
    Members(pairs: [("Apple_cd", [0x00])], flagged: true, unflagged: false),
    Members(pairs: [("apple", [0x00])], flagged: true, unflagged: false),
    Members(pairs: [], flagged: false, unflagged: false),
    Members(pairs: [(category, [0x04]), (category, [0x04])], flagged: false, unflagged: false),
    Members(pairs: [("other", [0x81, 0x81, 0x81, 0x81, 0x00])], flagged: true, unflagged: false),
    Members(pairs: [("other", [0x81, 0x81, 0x81, 0x81, 0x81, 0x00])], flagged: false, unflagged: false),
    Members(pairs: [("other", [0xF9, 0x00, 0x00])], flagged: false, unflagged: false),
  ]

  @Test(arguments: memberTable)
  func members(_ members: Members) {
    let bytes = Self.map(members.pairs)
    #expect((Self.read(bytes, isFlagged: true) != nil) == members.flagged)
    #expect((Self.read(bytes, isFlagged: false) != nil) == members.unflagged)
    #expect(Self.read(bytes + [0x00], isFlagged: true) == nil)
    for count in 0..<bytes.count { #expect(Self.read(Array(bytes[..<count]), isFlagged: true) == nil) }
  }
}
