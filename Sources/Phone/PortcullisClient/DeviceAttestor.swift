/// The seam between a key and what vouches for the device: App Attest on Apple's platforms.

/// Makes keys that cannot leave the device, has them attested, and signs with them. `AppAttestor` does it by DeviceCheck.
///
/// Each call with a challenge gets its bytes, 32 or a whole message: what App Attest calls the client data hash is SHA-256 of
/// them. A call that
/// fails throws `DeviceCheckFailure`, and interprets nothing: what to do about it is the package's matter.
public protocol DeviceAttestor: Sendable {
  /// Whether there is anything that vouches for the device. Where it is false, nothing else is called.
  var isSupported: Bool { get }

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
  ///   - challenge: 32 bytes, or the message of a device that holds them.
  /// - Returns: the assertion, which is CBOR.
  func assert(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8]
}

/// What App Attest answers instead (`DCError`). Any other error that an attestor throws counts as code 0.
public struct DeviceCheckFailure: Error, Equatable, Sendable {
  /// The raw value of `DCError.Code`: 0 `unknownSystemFailure`, 1 `featureUnsupported`, 2 `invalidInput`, 3 `invalidKey`,
  /// 4 `serverUnavailable`.
  public let code: Int
  /// In words, for a log.
  public let detail: String

  /// - Parameters:
  ///   - code: the raw value of `DCError.Code`.
  ///   - detail: in words.
  public init(code: Int, detail: String = "") {
    self.code = code
    self.detail = detail
  }
}
