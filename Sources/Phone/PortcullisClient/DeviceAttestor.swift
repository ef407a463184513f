/// The seam between a session and what vouches for the device: App Attest on Apple's platforms.

/// Makes keys that cannot leave the device, has them attested, and signs with them. `AppAttestor` does it by DeviceCheck.
///
/// Each call gets the challenge's 32 bytes: what App Attest calls the client data hash is SHA-256 of them.
public protocol DeviceAttestor: Sendable {
  /// Makes a key.
  /// - Returns: its identifier: base64 of 32 bytes.
  func makeKey() async throws -> String

  /// Has a key attested that was made and never attested before.
  /// - Parameters:
  ///   - keyID: as `makeKey` gave it.
  ///   - challenge: 32 bytes.
  /// - Returns: the attestation, which is CBOR.
  func attest(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8]

  /// Signs with a key that was attested; each assertion counts one up.
  /// - Parameters:
  ///   - keyID: as `makeKey` gave it.
  ///   - challenge: 32 bytes.
  /// - Returns: the assertion, which is CBOR.
  func assert(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8]
}

/// Why an attestor has nothing to give. Any other error that it throws counts as `failed`.
public enum AttestationError: Error, Equatable, Sendable {
  /// The key is gone, as after the app was installed anew or the phone was replaced: another one is made.
  case keyLost
  /// Apple's service cannot be reached just now: the same key is tried again later.
  case unavailable
  /// There is no App Attest here: no attempt will succeed.
  case unsupported
  /// Something else went wrong: tried again later; a key that was to be attested is given up.
  case failed(String)
}
