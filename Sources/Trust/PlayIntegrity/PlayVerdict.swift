/// What a good Play Integrity token has shown.
package import Time

/// How far Google trusts the device: each level holds all that those before it do. What they mean is in
/// docs/android.md, "Play Integrity".
package enum PlayLevel: String, CaseIterable, Comparable, Sendable {
  case basic, device, strong

  /// As `deviceRecognitionVerdict` has it.
  package var label: String {
    switch self {
    case .basic: "MEETS_BASIC_INTEGRITY"
    case .device: "MEETS_DEVICE_INTEGRITY"
    case .strong: "MEETS_STRONG_INTEGRITY"
    }
  }

  private var rank: Int {
    switch self {
    case .basic: 0
    case .device: 1
    case .strong: 2
    }
  }

  package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

package struct PlayVerdict: Equatable, Sendable {
  /// The app that asked for the token, which is one of those that are known.
  package let package: String
  /// The highest that the token names.
  package let level: PlayLevel
  /// When Google made the token.
  package let timestamp: UnixTime
}
