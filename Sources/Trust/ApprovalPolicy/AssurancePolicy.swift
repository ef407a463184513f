/// The assurance policy (docs/policies.md): what the gate expects of the devices of a subject. The first class
/// that matches holds.
package import DeviceWire

package struct AssurancePolicy: Equatable, Sendable {
  package let classes: [AssuranceClass]

  /// Expects nothing of anybody.
  package static let none = AssurancePolicy(classes: [])

  /// - Parameter subject: nil for a device that belongs to nobody, which patterns see as an empty name.
  package func assurance(of subject: String?) -> AssuranceClass {
    let name = Array((subject ?? "").utf8)
    return classes.first { found in found.subjects.contains { $0.matches(name) } } ?? .unnamed
  }
}

package struct AssuranceClass: Equatable, Sendable {
  package let name: String
  let subjects: [Glob]
  package let level: Level
  package let userVerification: UserVerification
  /// Whether Play Integrity has to vouch for an Android device.
  package let needsPlay: Bool
  /// How far it has to trust the phone; nil: as far as any token that is taken.
  package let playMinimum: PlayTrust?
  package let needsPresence: Bool
  /// Nil: what the setting says.
  package let otpAttestMaxAge: Int?
  /// Seconds after which a device is to attest again.
  package let reattestAfter: Int
  package let minAppVersion: AppVersion?
  /// Seconds until the device is expected to be heard of again.
  package let nextHeartbeat: Int

  /// For whom no class matches.
  package static let unnamed = AssuranceClass(
    name: "", subjects: [], level: .bare, userVerification: .none, needsPlay: false, playMinimum: nil,
    needsPresence: false,
    otpAttestMaxAge: nil, reattestAfter: defaultReattestAfter, minAppVersion: nil,
    nextHeartbeat: defaultNextHeartbeat)

  static let defaultReattestAfter = 7 * 86_400
  static let defaultNextHeartbeat = 3600
}

/// Whole numbers between dots, compared one after the other; what is missing at the end is 0.
package struct AppVersion: Comparable, Sendable, CustomStringConvertible {
  private let numbers: [UInt32]

  /// Nil unless it is 1 to 8 numbers without signs or leading zeros.
  package init?(_ text: String) {
    var numbers: [UInt32] = []
    for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      let digits = String(decoding: part, as: UTF8.self)
      guard let number = UInt32(digits), String(number).utf8.elementsEqual(part) else { return nil }
      numbers.append(number)
    }
    guard (1...8).contains(numbers.count) else { return nil }
    self.numbers = numbers
  }

  package var description: String { numbers.map(String.init).joined(separator: ".") }

  package static func < (left: AppVersion, right: AppVersion) -> Bool {
    left.comparable.lexicographicallyPrecedes(right.comparable)
  }

  package static func == (left: AppVersion, right: AppVersion) -> Bool {
    left.comparable == right.comparable
  }

  private var comparable: [UInt32] { numbers + Array(repeating: 0, count: 8 - numbers.count) }
}
