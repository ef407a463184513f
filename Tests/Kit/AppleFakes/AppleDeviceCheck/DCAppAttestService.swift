/// App Attest as an app asks for it. What it answers is in `FakeAppAttest`.
public import Foundation

@available(iOS 14.0, *)
open class DCAppAttestService: NSObject {
  private let hardware: any AppAttestHardware

  private init(_ hardware: any AppAttestHardware) {
    self.hardware = hardware
  }

  /// Of the phone that the calling task is on.
  open class var shared: DCAppAttestService { DCAppAttestService(AppleDevice.current[FakeAppAttest.self]) }

  open var isSupported: Bool { hardware.isSupported }

  open func generateKey() async throws -> String { try hardware.generateKey() }

  open func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data {
    Data(try hardware.attest(keyId, [UInt8](clientDataHash)))
  }

  open func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data {
    Data(try hardware.assert(keyId, [UInt8](clientDataHash)))
  }
}

@available(iOS 11.0, *)
public struct DCError: Error {
  public enum Code: RawRepresentable, Hashable, Sendable {
    case unknownSystemFailure
    case featureUnsupported
    case invalidInput
    case invalidKey
    case serverUnavailable
    /// No case of Apple's: what a later system may say.
    case _unnamed(Int)

    private static let named: [DCError.Code] = [
      .unknownSystemFailure, .featureUnsupported, .invalidInput, .invalidKey, .serverUnavailable,
    ]

    public init?(rawValue: Int) {
      self = Self.named.first { $0.rawValue == rawValue } ?? ._unnamed(rawValue)
    }

    public var rawValue: Int {
      switch self {
      case .unknownSystemFailure: 0
      case .featureUnsupported: 1
      case .invalidInput: 2
      case .invalidKey: 3
      case .serverUnavailable: 4
      case ._unnamed(let number): number
      }
    }
  }

  public let code: DCError.Code

  package init(_ code: Int) {
    self.code = Code(rawValue: code) ?? .unknownSystemFailure
  }
}

/// What a phone has for it.
protocol AppAttestHardware: AnyObject, Sendable {
  var isSupported: Bool { get }
  func generateKey() throws -> String
  func attest(_ keyID: String, _ hash: [UInt8]) throws -> [UInt8]
  func assert(_ keyID: String, _ hash: [UInt8]) throws -> [UInt8]
}
