/// An app on a software device: registers its key with a gate and connects with assertions (docs/protocol.md,
/// docs/app-attest.md).
package import Bytes
internal import Crypto
package import Dialing
internal import JSON
internal import PortcullisProtocol
package import Time

/// A challenge as the gate issued it.
package struct Challenge: Equatable, Sendable {
  /// 64 hexadecimal digits, which go back as they came.
  package let nonce: String
  /// What App Attest is given: SHA-256 of the 32 bytes that the digits spell.
  package let clientDataHash: Bytes32
  package let expires: UnixTime

  /// From the body of `GET /attest/challenge`.
  package init?(json: [UInt8]) {
    guard let object = (try? JSONValue(parsing: json.span, depthLimit: 4))?.object,
      let nonce = object[MemberName.nonce]?.string, let expires = object[MemberName.expires]?.integer,
      let bytes = Hex.decode(Array(nonce.utf8).span), bytes.count == 32
    else { return nil }
    self.nonce = nonce
    self.expires = UnixTime(milliseconds: expires)
    clientDataHash = SHA256.hash(bytes.span)
  }
}

/// The three headers of an upgrade. A test that cheats changes one of them, or sends them twice.
package struct AdmissionHeaders: Equatable, Sendable {
  package var keyIdentifier: KeyIdentifier
  /// The CBOR object.
  package var assertion: [UInt8]
  package var nonce: String

  package var fields: [GateResponse.Field] {
    [
      GateResponse.Field(HeaderName.assertionKeyID, keyIdentifier.base64),
      GateResponse.Field(HeaderName.assertionData, Base64.encode(assertion.span)),
      GateResponse.Field(HeaderName.assertionNonce, nonce),
    ]
  }
}

package final class SimulatedApp {
  package let client: GateClient
  package let enclave: SoftwareEnclave

  package init(_ client: GateClient, _ enclave: SoftwareEnclave) {
    self.client = client
    self.enclave = enclave
  }

  // MARK: As an honest app does it

  /// Challenge, attestation, registration. Any answer but 200 is `GateClientError.refused`.
  package func register(
    with authority: TestAttestationAuthority, now: UnixTime = SystemClock().wall()
  ) throws(GateClientError) {
    let challenge = try challenge()
    let attestation: [UInt8]
    do {
      attestation = try enclave.attest(clientDataHash: challenge.clientDataHash, by: authority, now: now)
    } catch {
      throw .device(error)
    }
    let response = try register(attestation, for: challenge)
    guard response.status == 200 else { throw .refused(response) }
  }

  /// Challenge, assertion, upgrade. Any answer but 101 is `GateClientError.refused`.
  package func connect(
    path: String? = nil, fields: [GateResponse.Field] = [], subprotocols: [String] = [],
    offersDeflate: Bool = false
  ) throws(GateClientError) -> WebSocketClient {
    let headers = try admission(for: challenge())
    return try client.connectWebSocket(
      path: path, fields: headers.fields + fields, subprotocols: subprotocols, offersDeflate: offersDeflate)
  }

  // MARK: Step by step

  package func challenge() throws(GateClientError) -> Challenge {
    let response = try client.get(EndpointPath.challenge)
    guard response.status == 200 else { throw .refused(response) }
    guard let challenge = Challenge(json: response.body) else {
      throw .malformedResponse("not a challenge: \(response.text)")
    }
    return challenge
  }

  /// - Returns: the gate's answer, whatever it is.
  package func register(_ attestation: [UInt8], for challenge: Challenge) throws(GateClientError)
    -> GateResponse
  {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name(MemberName.keyID)
    writer.value(enclave.keyIdentifier.base64)
    writer.name(MemberName.attestation)
    writer.value(Base64.encode(attestation.span))
    writer.name(MemberName.clientData)
    writer.value(challenge.nonce)
    writer.endObject()
    return try client.post(EndpointPath.register, json: writer.bytes)
  }

  /// - Parameter signCount: in place of the enclave's next one, which then is not used up.
  package func admission(
    for challenge: Challenge, signCount: UInt32? = nil
  ) throws(GateClientError) -> AdmissionHeaders {
    do throws(DeviceError) {
      let hash = challenge.clientDataHash
      let assertion =
        if let signCount {
          try enclave.assertion(clientDataHash: hash, signCount: signCount)
        } else {
          try enclave.assert(clientDataHash: hash)
        }
      return AdmissionHeaders(
        keyIdentifier: enclave.keyIdentifier, assertion: assertion, nonce: challenge.nonce)
    } catch {
      throw .device(error)
    }
  }
}
