/// One attempt to get in, step by step: an assertion of the app's key, then the upgrade (docs/protocol.md).
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import PortcullisProtocol

actor GateAdmission {
  private let address: GateAddress?
  private let transport: any GateTransport
  /// Nil where a certificate of the transport's vouches for the app.
  private let key: AppKey?
  private let compression: GameOptions.Compression
  /// Of the last attempt.
  private var keyID: String?

  init(
    _ gate: URL, transport: any GateTransport, key: AppKey?, compression: GameOptions.Compression
  ) {
    address = GateAddress(gate)
    self.transport = transport
    self.key = key
    self.compression = compression
  }

  /// - Parameter isForeground: asked when App Attest fails.
  func connect(
    _ request: SessionRequest, isForeground: @Sendable () -> Bool
  ) async throws(AdmissionFailure) -> any GateConnection {
    guard let address else { throw .final(.noGate) }
    var fields = request.fields
    if !CompressionTrust.allows(compression) { fields.append(GateField(HeaderName.compression, "off")) }
    guard let key else { return try await upgrade(address, fields) }
    let assertion = try await key.assertion(
      over: request.nonce.map(AppKey.Subject.nonce) ?? .challenge, isHurried: request.isHurried,
      isForeground: isForeground)
    keyID = assertion.keyID
    let proof = [
      GateField(HeaderName.assertionKeyID, assertion.keyID),
      GateField(HeaderName.assertionData, TextEncoding.base64(assertion.data)),
      GateField(HeaderName.assertionNonce, assertion.nonce),
    ]
    do throws(AdmissionFailure) {
      let connection = try await upgrade(address, proof + fields)
      await key.answered(assertion, isAccepted: true)
      return connection
    } catch {
      await key.answered(assertion, isAccepted: false)
      throw error
    }
  }

  /// The gate does not take the key of the last attempt.
  /// - Returns: false where there was none.
  func renewKey(because failure: GameFailure) async -> Bool {
    guard let key, let keyID else { return false }
    await key.renew(keyID, because: failure)
    return true
  }

  private func upgrade(
    _ address: GateAddress, _ fields: [GateField]
  ) async throws(AdmissionFailure) -> any GateConnection {
    let upgrade = GateUpgrade(url: address.upgrade, subprotocol: SessionRequest.subprotocol, fields: fields)
    do { return try await transport.connect(upgrade) } catch { throw AdmissionFailure(ofTransport: error) }
  }
}

/// Whether this process has seen compressed text that its system could not read.
enum CompressionTrust {
  private static let isBroken = Locked(false)

  static func allows(_ option: GameOptions.Compression) -> Bool {
    option == .automatic && isSystemFit && !isBroken.withLock { $0 }
  }

  /// A Close 1007 says that a message was no UTF-8, or compressed data that could not be read.
  static func lose() { isBroken.withLock { $0 = true } }

  /// iOS 15.0 to 15.3 keeps its window from one message to the next though it was told not to.
  private static var isSystemFit: Bool {
    #if os(iOS)
      if #available(iOS 15.4, *) { return true }
      return false
    #else
      return true
    #endif
  }
}
