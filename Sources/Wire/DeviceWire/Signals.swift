/// What a phone says of itself when it asks for a one-time code: signed, and believed no further than it lowers trust.
package import Bytes
internal import Crypto
internal import JSON

package struct Signals: Sendable {
  /// Exactly as they were signed.
  package let bytes: [UInt8]
  /// A name of the IANA time zone database, or an offset.
  package private(set) var timeZone: String?
  /// Mobile country and network code (ITU-T E.212).
  package private(set) var network: String?
  /// Which wireless network it is in, in whatever words the app has for it.
  package private(set) var wifi: String?
  /// `YYYY-MM`, or `YYYY-MM-DD`.
  package private(set) var patchLevel: String?
  /// In tenths of a degree: −900…900, and −1800…1800.
  package private(set) var latitude: Int64?
  package private(set) var longitude: Int64?
  /// How far off the position may be, in metres: 0…10,000,000.
  package private(set) var accuracy: Int64?
  package private(set) var mockLocation: Bool?
  package private(set) var debugBridge: Bool?
  package private(set) var rooted: Bool?
  package private(set) var emulator: Bool?
  package private(set) var debugger: Bool?
  /// Members that nothing is made of.
  package private(set) var strangers: [String] = []

  package static let sizeLimit = 4096
  package static let depthLimit = 8

  /// SHA-256 of the bytes: what an `otp-issue` message names.
  package var hash: Bytes32 { SHA256.hash(bytes.span) }

  /// From base64 of the bytes.
  package init?(base64 text: String) {
    guard text.utf8.count <= (Self.sizeLimit + 2) / 3 * 4, let bytes = Base64.decode(Array(text.utf8).span)
    else { return nil }
    self.init(bytes)
  }

  /// Nil unless it is an object in which each known member has its form; others may hold anything.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.sizeLimit,
      let object = (try? JSONValue(parsing: bytes.span, depthLimit: Self.depthLimit))?.object
    else { return nil }
    self.bytes = bytes
    for member in object.members {
      guard take(member.value, as: member.name) else { return nil }
    }
  }

  /// False where a known member has another form.
  private mutating func take(_ value: JSONValue, as name: String) -> Bool {
    switch name {
    case "tz": return Self.keep(value.string, where: Self.isTimeZone, in: &timeZone)
    case "mcc_mnc": return Self.keep(value.string, where: Self.isNetwork, in: &network)
    case "wifi": return Self.keep(value.string, where: Self.isWiFi, in: &wifi)
    case "os_patch_level": return Self.keep(value.string, where: Self.isPatchLevel, in: &patchLevel)
    case "lat_e1": return Self.keep(value.integer, where: { (-900...900).contains($0) }, in: &latitude)
    case "lon_e1": return Self.keep(value.integer, where: { (-1800...1800).contains($0) }, in: &longitude)
    case "acc_m": return Self.keep(value.integer, where: { (0...10_000_000).contains($0) }, in: &accuracy)
    case "mock_location": return Self.keep(value.boolean, where: { _ in true }, in: &mockLocation)
    case "adb_enabled": return Self.keep(value.boolean, where: { _ in true }, in: &debugBridge)
    case "rooted": return Self.keep(value.boolean, where: { _ in true }, in: &rooted)
    case "emulator": return Self.keep(value.boolean, where: { _ in true }, in: &emulator)
    case "debugger": return Self.keep(value.boolean, where: { _ in true }, in: &debugger)
    default:
      strangers.append(name)
      return true
    }
  }

  private static func keep<Value>(
    _ value: Value?, where isGood: (Value) -> Bool, in place: inout Value?
  ) -> Bool {
    guard let value, isGood(value) else { return false }
    place = value
    return true
  }

  // MARK: Forms

  private static func isTimeZone(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"),
          UInt8(ascii: "/"), UInt8(ascii: ":"):
          true
        default: false
        }
      }
  }

  /// Three digits, a hyphen or nothing, two or three digits.
  private static func isNetwork(_ text: String) -> Bool {
    var bytes = Array(text.utf8)
    if bytes.count > 3, bytes[3] == UInt8(ascii: "-") { bytes.remove(at: 3) }
    return (5...6).contains(bytes.count) && bytes.allSatisfy(isDigit)
  }

  private static func isWiFi(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && ShownText.isClean(text)
  }

  /// `2026-01` or `2026-01-05`.
  package static func isPatchLevel(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(
      Array.init)
    guard (2...3).contains(parts.count), parts[0].count == 4, parts[0].allSatisfy(isDigit) else {
      return false
    }
    for (part, largest) in zip(parts.dropFirst(), [12, 31]) {
      guard part.count == 2, part.allSatisfy(isDigit) else { return false }
      let number = Int(part[0] - UInt8(ascii: "0")) * 10 + Int(part[1] - UInt8(ascii: "0"))
      guard (1...largest).contains(number) else { return false }
    }
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension Signals: Equatable {
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
}
