/// The two requests that come before a connection: for a challenge, and with a registration (docs/protocol.md).
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import PortcullisProtocol

/// Why an attempt came to nothing.
package enum AdmissionFailure: Error, Equatable {
  /// The gate has answered otherwise, or something in between: when to come again depends on what it said.
  case refused(GateRefusal)
  /// There was no answer.
  case failed(GameFailure)
  /// Nothing is to be tried before that moment (Unix time in seconds); nil: a pause as after a lost connection.
  case waits(until: Double?, GameFailure)
  /// No other attempt would mend it.
  case final(GameFailure)
}

/// A challenge of the gate's.
struct GateChallenge {
  /// 64 hexadecimal digits, which go back as they came.
  let nonce: String
  /// The 32 bytes that they stand for.
  let bytes: [UInt8]
  /// Unix time in seconds.
  let until: Int

  init?(nonce: String, until: Int = .max) {
    guard let bytes = TextEncoding.bytes(ofHex: nonce), bytes.count == 32 else { return nil }
    self.nonce = nonce
    self.bytes = bytes
    self.until = until
  }
}

struct GateCalls: Sendable {
  let address: GateAddress
  let transport: any GateTransport

  /// - Parameter keyID: of the key that is to be registered; nil: the challenge is for an assertion.
  func challenge(registering keyID: String? = nil) async throws(AdmissionFailure) -> GateChallenge {
    var query: String?
    if let keyID {
      guard let bytes = TextEncoding.bytes(ofBase64: keyID) else {
        throw .final(GameFailure(.attestation, detail: "the key's identifier is no base64: \(keyID)"))
      }
      query = "purpose=register&key=\(TextEncoding.base64URL(bytes))"
    }
    let body = try await answer(GateRequest(url: url(EndpointPath.challenge, query: query), method: "GET"))
    guard let object = JSONText(object: body), let nonce = object.string(MemberName.nonce),
      let expires = object.integer(MemberName.expires), expires >= 0,
      let challenge = GateChallenge(nonce: nonce, until: expires / 1000)
    else { throw .failed(GameFailure(.interference, detail: "the answer is no challenge")) }
    return challenge
  }

  func register(_ keyID: String, nonce: String, attestation: [UInt8]) async throws(AdmissionFailure) {
    let body = AppText.object([
      (MemberName.keyID, JSONText.quoted(keyID)),
      (MemberName.attestation, JSONText.quoted(TextEncoding.base64(attestation))),
      (MemberName.clientData, JSONText.quoted(nonce)),
    ])
    let request = try GateRequest(
      url: url(EndpointPath.register), method: "POST",
      fields: [GateField("Content-Type", "application/json")], body: body)
    _ = try await answer(request)
  }

  private func url(_ path: String, query: String? = nil) throws(AdmissionFailure) -> URL {
    guard let url = address.endpoint(path, query: query) else { throw .final(.noGate) }
    return url
  }

  private func answer(_ request: GateRequest) async throws(AdmissionFailure) -> [UInt8] {
    let answer: GateAnswer
    do { answer = try await transport.request(request) } catch { throw AdmissionFailure(ofTransport: error) }
    guard answer.status == 200 else { throw .refused(GateRefusal(answer)) }
    return answer.body
  }
}

extension GameFailure {
  static let noGate = GameFailure(
    .unusable, detail: "the gate's address is not https:// or wss:// with a host")
}

extension AdmissionFailure {
  init(ofTransport error: any Error) {
    switch error as? GateTransportError {
    case .refused(let status, let code, let retryAfter, let trace):
      self = .refused(GateRefusal(status: status, code: code, retryAfter: retryAfter, trace: trace))
    case .failed(let kind, let detail):
      let failure = GameFailure(kind, detail: detail)
      let isFinal = [.unusable, .unsupported, .protocolViolation].contains(kind)
      self = isFinal ? .final(failure) : .failed(failure)
    case nil: self = .failed(GameFailure(.unreachable, detail: "\(error)"))
    }
  }
}
