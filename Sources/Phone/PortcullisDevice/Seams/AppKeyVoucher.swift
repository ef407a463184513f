/// What vouches for a device's keys on an iPhone: the App Attest key that the player's sessions use as well.
public import PortcullisClient
internal import PortcullisProtocol

/// Assertions of the app's key, in turn with those of the sessions: the gate takes each only if it counts higher than the last.
public actor AppKeyVoucher: DeviceVoucher {
  private let key: AppKey
  /// Whose turn it is until the gate has answered.
  private var last: AppKey.Assertion?

  /// - Parameter key: of this app at the device's gate: on Apple's platforms `AppKey.of(_:)`.
  public init(_ key: AppKey) {
    self.key = key
  }

  /// The gate knows it from its own registration.
  public var appKeyID: String? { last?.keyID }

  /// An assertion over the device's keys and the challenge.
  public func evidence(
    for points: DevicePoints, _ challenge: DeviceChallenge, isKnown: Bool
  ) async throws -> DeviceEvidence {
    let message = DeviceMessage.appAttest(
      server: challenge.server, keys: points.hashes, nonce: challenge.nonce)
    let assertion = try await key.assertion(over: .message(message.bytes))
    last = assertion
    return .assertion(assertion.data, keyID: assertion.keyID)
  }

  /// The next assertion may be made.
  public func answered(isAccepted: Bool) async {
    if let last { await key.answered(last, isAccepted: isAccepted) }
  }
}
