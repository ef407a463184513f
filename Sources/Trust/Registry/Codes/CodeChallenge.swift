/// A login that waits for a one-time code, and the code that a phone has asked for, as the store keeps them
/// (docs/codes.md, "One-time codes").
package import Bytes
package import DeviceWire
package import Time

package struct CodeChallenge: Equatable, Sendable {
  /// Open, and from there once to one of the others.
  package enum State: Int, CaseIterable, Sendable {
    case open = 0
    case passed = 1
    case expired = 2
    /// Whoever asked is revoked, or the subject was locked.
    case cancelled = 3

    package var word: String {
      switch self {
      case .open: "open"
      case .passed: "passed"
      case .expired: "expired"
      case .cancelled: "cancelled"
      }
    }
  }

  package let id: CodeChallengeID
  package let service: ServiceID
  package let holder: CodeHolder
  /// SHA-256 of the service's own name for the login: its code is good for no other.
  package let login: Bytes32
  /// What the phone shows; gone with the end.
  package let text: String
  package let createdAt: UnixTime
  package let expiresAt: UnixTime
  package var state = State.open
  package var endedAt: UnixTime?
  /// The one code that is good for it, whichever phone has asked for it.
  package var code: LiveCode?
}

/// A code between its issue and its end.
package struct LiveCode: Equatable, Sendable {
  package let device: DeviceID
  /// Of the digits, as `CodeAuthenticator` makes it.
  package let mac: Bytes32
  package let expiresAt: UnixTime
  package var wrong = 0
}

/// Whose logins and wrong codes are counted together: the subject's, or a device's that belongs to nobody.
package enum CodeHolder: Hashable, Sendable {
  case subject(Subject)
  case device(DeviceID)

  package init(of device: DeviceRecord) {
    self = device.subject.map { .subject($0) } ?? .device(device.id)
  }

  package var bytes: [UInt8] {
    switch self {
    case .subject(let subject): [Self.subjectMark] + Array(subject.name.utf8)
    case .device(let device): [Self.deviceMark] + device.bytes
    }
  }

  package init?(_ bytes: [UInt8]) {
    let rest = Array(bytes.dropFirst())
    switch bytes.first {
    case Self.subjectMark:
      guard let subject = String(validating: rest, as: UTF8.self).flatMap({ Subject(stored: $0) }) else {
        return nil
      }
      self = .subject(subject)
    case Self.deviceMark:
      guard let device = DeviceID(rest) else { return nil }
      self = .device(device)
    default: return nil
    }
  }

  private static let subjectMark = UInt8(ascii: "s")
  private static let deviceMark = UInt8(ascii: "d")
}

/// Wrong codes in a row of one holder.
package struct WrongCodes: Equatable, Sendable {
  package var count = 0
  /// No code is issued from then on, until an operator has looked at it.
  package var lockedAt: UnixTime?
}

/// How many may be open, and for how long.
enum CodeLimits {
  /// From the question to the end of the login.
  static let challengeLife: Duration = .seconds(300)
  /// The longest that a code may live, whatever is set.
  static let longestLife: Duration = .seconds(120)
  static let openOfHolder = 5
  /// Wrong codes that end the live one.
  static let triesOfCode = 5
  /// Wrong codes in a row that lock the holder.
  static let triesOfHolder = 100
  /// Bytes of what a phone shows.
  static let text = 1...1024
}
