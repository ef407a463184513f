/// Why nobody has shown a face or a passcode: numbers of LAErrorDomain.
@available(iOS 8.0, *)
public struct LAError: Error {
  public enum Code: RawRepresentable, Hashable, Sendable {
    case authenticationFailed
    case userCancel
    case userFallback
    case systemCancel
    case passcodeNotSet
    @available(iOS 9.0, *)
    case appCancel
    @available(iOS 9.0, *)
    case invalidContext
    @available(iOS 11.0, *)
    case biometryNotAvailable
    @available(iOS 11.0, *)
    case biometryNotEnrolled
    @available(iOS 11.0, *)
    case biometryLockout
    case notInteractive
    /// No case of Apple's: a number that is none of them.
    case _unnamed(Int)

    private static let named: [LAError.Code] = [
      .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet,
      .biometryNotAvailable, .biometryNotEnrolled, .biometryLockout, .appCancel, .invalidContext,
      .notInteractive,
    ]

    public init?(rawValue: Int) {
      self = Self.named.first { $0.rawValue == rawValue } ?? ._unnamed(rawValue)
    }

    public var rawValue: Int {
      switch self {
      case .authenticationFailed: -1
      case .userCancel: -2
      case .userFallback: -3
      case .systemCancel: -4
      case .passcodeNotSet: -5
      case .biometryNotAvailable: -6
      case .biometryNotEnrolled: -7
      case .biometryLockout: -8
      case .appCancel: -9
      case .invalidContext: -10
      case .notInteractive: -1004
      case ._unnamed(let number): number
      }
    }
  }

  public let code: LAError.Code

  package init(_ code: Int) {
    self.code = Code(rawValue: code) ?? .authenticationFailed
  }
}

@available(iOS 8.0, *)
public let LAErrorDomain: String = "com.apple.LocalAuthentication"
