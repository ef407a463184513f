/// What vouches for the device on Apple's platforms: App Attest.
#if canImport(DeviceCheck)
  internal import CryptoKit
  internal import DeviceCheck
  internal import Foundation

  /// Keys in the Secure Enclave, attested by Apple (DeviceCheck, `DCAppAttestService`). The app's target needs the
  /// capability "App Attest".
  public struct AppAttestor: DeviceAttestor {
    /// False in the simulator and on Macs.
    public static var isSupported: Bool { DCAppAttestService.shared.isSupported }

    /// Asks nothing of the device yet.
    public init() {}

    /// Makes a key.
    public func makeKey() async throws -> String {
      try await asking { try await $0.generateKey() }
    }

    /// Has Apple attest a key; asks Apple's servers.
    public func attest(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
      let hash = Data(SHA256.hash(data: challenge))
      return try await asking { [UInt8](try await $0.attestKey(keyID, clientDataHash: hash)) }
    }

    /// Signs with a key, on the device alone.
    public func assert(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
      let hash = Data(SHA256.hash(data: challenge))
      return try await asking { [UInt8](try await $0.generateAssertion(keyID, clientDataHash: hash)) }
    }

    private func asking<Result>(
      _ ask: (DCAppAttestService) async throws -> Result
    ) async throws -> Result {
      guard Self.isSupported else { throw AttestationError.unsupported }
      do {
        return try await ask(.shared)
      } catch let error as DCError {
        switch error.code {
        case .invalidKey: throw AttestationError.keyLost
        case .serverUnavailable: throw AttestationError.unavailable
        case .featureUnsupported: throw AttestationError.unsupported
        default: throw AttestationError.failed("DCError \(error.code.rawValue)")
        }
      }
    }
  }
#endif
