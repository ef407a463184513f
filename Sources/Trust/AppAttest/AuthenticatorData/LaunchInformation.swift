/// How the app was launched: the extensions of authenticator data that iOS 27 introduced (docs/app-attest.md,
/// "Launch information").
internal import Bytes
internal import CBOR

package struct LaunchInformation: Equatable, Sendable {
  /// `apple_validation_category_01`
  package let validationCategory: UInt32?
  /// `apple_bundle_version_01`, at most 256 bytes.
  package let bundleVersion: String?

  static let none = LaunchInformation(validationCategory: nil, bundleVersion: nil)

  init(validationCategory: UInt32?, bundleVersion: String?) {
    self.validationCategory = validationCategory
    self.bundleVersion = bundleVersion
  }

  /// From the extension map, which is all of `bytes`. With the ED flag unknown members are tolerated; without
  /// it (Apple's guide of 2026; macOS 27, which adds `apple_cd_hash_hash_01` and `apple_cd_hash_type_01`) the
  /// bytes are only taken for extensions when every member is Apple's own. An empty map is refused: neither
  /// WebAuthn nor Apple has a use for one.
  init?(extensions bytes: Span<UInt8>, isFlagged: Bool) {
    let document: CBORDocument
    do {
      document = try CBORDocument.parse(bytes, limits: CBORLimits(bytes: Self.maximumBytes))
    } catch {
      return nil
    }
    guard case .map(let count) = document.root.kind, count > 0 else { return nil }
    var category: UInt32?
    var version: String?
    for (key, value) in document.pairs(of: document.root) {
      switch bytes.extracting(key) {
      case let name where name.isText("apple_validation_category_01"):
        guard let number = Self.category(value, in: bytes) else { return nil }
        category = number
      case let name where name.isText("apple_bundle_version_01"):
        guard case .text(let content) = value.kind, content.count <= Self.maximumVersionBytes else {
          return nil
        }
        version = String(decoding: bytes.extracting(content).array, as: UTF8.self)
      case let name:
        guard isFlagged || name.startsWith(Array("apple_".utf8)) else { return nil }
      }
    }
    self.init(validationCategory: category, bundleVersion: version)
  }

  /// Four bytes, little-endian, as devices send it; or an unsigned integer.
  private static func category(_ value: CBORDocument.Item, in bytes: Span<UInt8>) -> UInt32? {
    switch value.kind {
    case .unsigned(let number): return UInt32(exactly: number)
    case .bytes(let content):
      guard content.count == 4 else { return nil }
      var number: UInt32 = 0
      for index in content.reversed() { number = number << 8 | UInt32(bytes[index]) }
      return number
    default: return nil
    }
  }

  private static let maximumBytes = 2048
  private static let maximumVersionBytes = 256
}
