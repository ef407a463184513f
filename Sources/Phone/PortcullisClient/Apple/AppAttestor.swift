/// What vouches for the device on Apple's platforms: App Attest.
#if canImport(DeviceCheck)
  internal import CryptoKit
  internal import DeviceCheck
  internal import Foundation

  /// Keys in the Secure Enclave, attested by Apple (DeviceCheck, `DCAppAttestService`). The app's target needs the
  /// capability "App Attest". What fails is handed over as it came: `KeyMachine` decides.
  public struct AppAttestor: DeviceAttestor {
    /// False in the simulator and on Macs.
    public var isSupported: Bool { DCAppAttestService.shared.isSupported }

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
      do {
        return try await ask(.shared)
      } catch let error as DCError {
        throw DeviceCheckFailure(code: error.code.rawValue)
      } catch {
        throw DeviceCheckFailure(code: 0, detail: "\(error)")
      }
    }
  }
#endif
