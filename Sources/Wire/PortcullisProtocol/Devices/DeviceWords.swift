/// The closed lists of words that phone and gate say to each other (docs/devices-messages.md, "Messages").

/// What a device runs.
public enum DevicePlatform: String, CaseIterable, Codable, Sendable {
  case ios, android
}

/// What a device signs a `device-auth` message for.
package enum AuthPurpose: String, CaseIterable, Sendable {
  case token
  case upgrade = "ws-connect"
  case heartbeat
}

/// What a person says to a request: a word in JSON, one byte in the message.
public enum Decision: String, CaseIterable, Sendable {
  case approve, deny
  /// Denies, and tells that nobody should have asked.
  case report

  package var byte: UInt8 {
    switch self {
    case .approve: 1
    case .deny: 2
    case .report: 3
    }
  }

  package init?(byte: UInt8) {
    guard let decision = Self.allCases.first(where: { $0.byte == byte }) else { return nil }
    self = decision
  }
}

/// What vouches for a device's keys.
public enum Level: String, CaseIterable, Comparable, Sendable {
  /// Nothing but the keys themselves.
  case bare
  /// An app that was attested names them.
  case appAttested = "app_attested"
  /// They were attested themselves, as keys in hardware.
  case hardwareAttested = "hardware_attested"

  private var rank: Int {
    switch self {
    case .bare: 0
    case .appAttested: 1
    case .hardwareAttested: 2
    }
  }

  /// Whether less vouches for the first one.
  public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// Who says that a person was there when the approval key signed.
public enum UserVerification: String, CaseIterable, Comparable, Sendable {
  /// Nobody: there is no approval key.
  case none
  /// The app, which made the key so.
  case app
  /// An attestation of the key.
  case hardware

  private var rank: Int {
    switch self {
    case .none: 0
    case .app: 1
    case .hardware: 2
    }
  }

  /// Whether less is known of the first one.
  public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}
