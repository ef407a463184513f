/// One WebSocket of URLSession's, and the delegate that hears of its opening, its end, and of certificates.
#if canImport(DeviceCheck)
  internal import CryptoKit
  internal import Foundation
  internal import PortcullisProtocol
  internal import Security

  struct URLSessionConnection: GateConnection {
    let task: URLSessionWebSocketTask
    let delegate: SessionDelegate
    let subprotocol: String?

    func send(_ message: GateMessage) async throws {
      switch message {
      case .text(let text): try await task.send(.string(text))
      case .binary(let bytes): try await task.send(.data(Data(bytes)))
      }
    }

    func receive() async throws -> GateArrival {
      do {
        switch try await task.receive() {
        case .data(let data): return .message(.binary([UInt8](data)))
        case .string(let text): return .message(.text(text))
        @unknown default: throw GateTransportError.failed(.interference, "neither text nor binary")
        }
      } catch {
        switch task.closeCode.rawValue {
        // None, and what stands for a connection that was lost, or for a Close without a code (RFC 6455 §7.4.1).
        case 0, 1006: throw error
        case 1005: return .closed(code: nil)
        case let code: return .closed(code: UInt16(exactly: code))
        }
      }
    }

    /// URLSession has been seen to call a ping's handler twice, and not at all when the task ends.
    func ping() async throws {
      let pong = delegate.pong
      try await pong.value { turn in
        task.sendPing { error in pong.resume(error.map { .failure($0) } ?? .success(()), turn: turn) }
      }
    }

    func close(code: UInt16) {
      task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .goingAway, reason: nil)
    }

    func abandon() { task.cancel() }
  }

  final class SessionDelegate: NSObject, URLSessionWebSocketDelegate {
    let opening = Awaited<String?>()
    let pong = Awaited<Void>()
    private let certificate: ClientCertificate?
    private let trust: GateTrust
    /// The certificate that was shown is none of those that are pinned.
    private let isPinRefused = Locked(false)

    init(_ certificate: ClientCertificate?, _ trust: GateTrust) {
      self.certificate = certificate
      self.trust = trust
    }

    /// What an error of URLSession's is to the session.
    func failure(_ error: any Error) -> any Error {
      if isPinRefused.withLock({ $0 }) {
        return GateTransportError.failed(.pinMismatch, "the gate's key is none of the pinned ones")
      }
      return GateTransportError(urlError: error)
    }

    func urlSession(
      _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
      opening.resume(.success(`protocol`))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      var end = error ?? GateTransportError.failed(.unreachable, "the connection has ended")
      // URLSession calls a refused upgrade a bad answer, and keeps it.
      if let head = task.response as? HTTPURLResponse, head.statusCode != 101 {
        end = GateTransportError.refused(
          status: head.statusCode, code: head.errorCode, retryAfter: head.retryAfter, trace: head.trace)
      }
      opening.end(end)
      pong.end(end)
    }

    /// The gate has no redirections.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    /// The gate's certificate, where no task asks for it.
    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      answer(challenge, completionHandler)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      answer(challenge, completionHandler)
    }

    private func answer(
      _ challenge: URLAuthenticationChallenge,
      _ complete: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let space = challenge.protectionSpace
      switch (space.authenticationMethod, trust) {
      case (NSURLAuthenticationMethodClientCertificate, _):
        let credential = certificate?.credential
        complete(credential == nil ? .performDefaultHandling : .useCredential, credential)
      case (NSURLAuthenticationMethodServerTrust, .pins(let source)):
        // The key alone decides: no name, no date, no issuer.
        if let shown = space.serverTrust, Self.has(shown, source.pins) {
          complete(.useCredential, URLCredential(trust: shown))
        } else {
          isPinRefused.withLock { $0 = true }
          complete(.cancelAuthenticationChallenge, nil)
        }
      default: complete(.performDefaultHandling, nil)
      }
    }

    private static func has(_ trust: SecTrust, _ pins: Pins) -> Bool {
      guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let leaf = chain.first,
        let key = CertificateKey.subjectPublicKeyInfo(of: [UInt8](SecCertificateCopyData(leaf) as Data))
      else { return false }
      return pins.hashes.contains([UInt8](SHA256.hash(data: key)))
    }
  }

  extension GateTransportError {
    /// What cannot be told apart is unreachable.
    init(urlError error: any Error) {
      if let known = error as? GateTransportError {
        self = known
        return
      }
      guard let code = (error as? URLError)?.code.rawValue else {
        self = .failed(.unreachable, "\(error)")
        return
      }
      let kind: GameFailure.Kind =
        switch code {
        case -1009, -1018, -1020: .offline
        case -1001: .timeout
        case -1206 ... -1200: .untrusted
        // App Transport Security, and a URL that is none.
        case -1022, -1000, -1002: .unusable
        default: .unreachable
        }
      self = .failed(kind, "URLError \(code)")
    }
  }

  extension HTTPURLResponse {
    var errorCode: String? { value(forHTTPHeaderField: HeaderName.error) }
    var trace: String? { value(forHTTPHeaderField: HeaderName.trace) }
    var retryAfter: Double? { value(forHTTPHeaderField: HeaderName.retryAfter).flatMap(Double.init) }
  }
#endif
