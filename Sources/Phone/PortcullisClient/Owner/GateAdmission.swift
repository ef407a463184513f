/// One attempt to get in, step by step: a key that the gate knows, a challenge, an assertion, the upgrade (docs/protocol.md).
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import PortcullisProtocol

/// Why an attempt came to nothing, in the words of the machine.
enum AdmissionFailure: Error {
  case refused(status: Int, code: String?, retryAfter: Double?)
  case failed
  case unusable
  case keyLost
}

actor GateAdmission {
  private struct Challenge {
    /// 64 hexadecimal digits, which go back as they came.
    let nonce: String
    let bytes: [UInt8]
  }

  /// An attestation that the gate may still take: a key cannot be attested twice.
  private struct Registration {
    let keyID: String
    let body: [UInt8]
  }

  private let address: GateAddress?
  private let transport: any GateTransport
  private let attestor: (any DeviceAttestor)?
  private let memory: SessionMemory
  private let registers: Bool
  /// Nil where none is known to be registered.
  private var keyID: String?
  private var hasAskedMemory = false
  /// A key that could not be attested yet: the same one is tried again.
  private var unattestedKeyID: String?
  private var registration: Registration?

  init(
    _ gate: URL, transport: any GateTransport, attestor: (any DeviceAttestor)?, memory: SessionMemory,
    registers: Bool
  ) {
    address = GateAddress(gate)
    self.transport = transport
    self.attestor = attestor
    self.memory = memory
    self.registers = registers
  }

  // MARK: What the machine asks for

  func connect(_ request: SessionRequest) async throws(AdmissionFailure) -> any GateConnection {
    guard let address else { throw .unusable }
    var fields = request.fields
    if let attestor { fields = try await assertion(by: attestor) + fields }
    let upgrade = GateUpgrade(url: address.upgrade, subprotocol: SessionRequest.subprotocol, fields: fields)
    let connection: any GateConnection
    do { connection = try await transport.connect(upgrade) } catch {
      throw AdmissionFailure(ofTransport: error)
    }
    // The answer to its registration may have been lost: now it is known to be registered.
    if let keyID, await memory.keyID != keyID { await memory.remember(keyID: keyID) }
    return connection
  }

  /// Another key than the one before, which the gate does not take.
  func register() async throws(AdmissionFailure) {
    guard let attestor, registers else { throw .unusable }
    keyID = nil
    hasAskedMemory = true
    _ = try await registeredKey(attestor)
  }

  // MARK: The key

  private func registeredKey(_ attestor: any DeviceAttestor) async throws(AdmissionFailure) -> String {
    if !hasAskedMemory {
      hasAskedMemory = true
      keyID = await memory.keyID
    }
    if let keyID { return keyID }
    guard registers else { throw .unusable }
    let registration: Registration
    if let waiting = self.registration {
      registration = waiting
    } else {
      registration = try await attest(attestor)
    }
    self.registration = nil
    do throws(AdmissionFailure) {
      _ = try await answer(EndpointPath.register, body: registration.body)
    } catch {
      switch error {
      // The challenge is still good, and so the same goes out again.
      case .refused(let status, _, _) where status == 429 || status == 503: self.registration = registration
      // Whether the gate has it, the next assertion will tell.
      case .failed: keyID = registration.keyID
      case .refused, .unusable, .keyLost: break
      }
      throw error
    }
    keyID = registration.keyID
    await memory.remember(keyID: registration.keyID)
    return registration.keyID
  }

  private func attest(_ attestor: any DeviceAttestor) async throws(AdmissionFailure) -> Registration {
    let keyID: String
    if let waiting = unattestedKeyID {
      keyID = waiting
    } else {
      do { keyID = try await attestor.makeKey() } catch { throw AdmissionFailure(ofAttestor: error) }
    }
    unattestedKeyID = keyID
    let challenge = try await challenge()
    let attestation: [UInt8]
    do {
      attestation = try await attestor.attest(keyID, challenge: challenge.bytes)
    } catch {
      if error as? AttestationError != .unavailable { unattestedKeyID = nil }
      throw AdmissionFailure(ofAttestor: error)
    }
    unattestedKeyID = nil
    let body = AppText.object([
      (MemberName.keyID, JSONText.quoted(keyID)),
      (MemberName.attestation, JSONText.quoted(TextEncoding.base64(attestation))),
      (MemberName.clientData, JSONText.quoted(challenge.nonce)),
    ])
    return Registration(keyID: keyID, body: body)
  }

  private func assertion(by attestor: any DeviceAttestor) async throws(AdmissionFailure) -> [GateField] {
    let keyID = try await registeredKey(attestor)
    let challenge = try await challenge()
    let assertion: [UInt8]
    do {
      assertion = try await attestor.assert(keyID, challenge: challenge.bytes)
    } catch {
      throw AdmissionFailure(ofAttestor: error)
    }
    return [
      GateField(HeaderName.assertionKeyID, keyID),
      GateField(HeaderName.assertionData, TextEncoding.base64(assertion)),
      GateField(HeaderName.assertionNonce, challenge.nonce),
    ]
  }

  // MARK: Requests

  private func challenge() async throws(AdmissionFailure) -> Challenge {
    let body = try await answer(EndpointPath.challenge, body: nil)
    guard let nonce = JSONText(object: body)?.string(MemberName.nonce),
      let bytes = TextEncoding.bytes(ofHex: nonce), bytes.count == 32
      // Something else answers here, a network's own page perhaps.
    else { throw .failed }
    return Challenge(nonce: nonce, bytes: bytes)
  }

  private func answer(_ path: String, body: [UInt8]?) async throws(AdmissionFailure) -> [UInt8] {
    guard let url = address?.endpoint(path) else { throw .unusable }
    let fields = body == nil ? [] : [GateField("Content-Type", "application/json")]
    let request = GateRequest(url: url, method: body == nil ? "GET" : "POST", fields: fields, body: body)
    let answer: GateAnswer
    do { answer = try await transport.request(request) } catch { throw AdmissionFailure(ofTransport: error) }
    guard answer.status == 200 else {
      throw .refused(status: answer.status, code: answer.code, retryAfter: answer.retryAfter)
    }
    return answer.body
  }
}

extension AdmissionFailure {
  init(ofTransport error: any Error) {
    switch error as? GateTransportError {
    case .refused(let status, let code, let retryAfter):
      self = .refused(status: status, code: code, retryAfter: retryAfter)
    case .unreachable, nil: self = .failed
    case .unusable: self = .unusable
    }
  }

  init(ofAttestor error: any Error) {
    switch error as? AttestationError {
    case .keyLost: self = .keyLost
    case .unavailable, .failed, nil: self = .failed
    case .unsupported: self = .unusable
    }
  }
}
