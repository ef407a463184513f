/// URLSession's fake by itself: in which order a delegate is called, and what becomes of each of its answers.
internal import AppleFoundation
internal import AppleSecurity
internal import Crypto
internal import Device
internal import Kit
internal import System
internal import Testing
internal import Time

/// Answers as a test says, and notes what it is asked and told.
private final class Delegate: NSObject, URLSessionWebSocketDelegate, @unchecked Sendable {
  typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

  private let log = Monitor<[String]>([])
  private let ofTrust: @Sendable (SecTrust) -> Answer
  private let identity: URLCredential?

  init(identity: URLCredential? = nil, _ ofTrust: @escaping @Sendable (SecTrust) -> Answer) {
    self.identity = identity
    self.ofTrust = ofTrust
  }

  var calls: [String] { log.withLock { calls, _ in calls } }

  private func note(_ call: String) { log.withLock { calls, _ in calls.append(call) } }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let space = challenge.protectionSpace
    if space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust {
      note("trust \(space.host)")
      let (disposition, credential) = ofTrust(trust)
      completionHandler(disposition, credential)
    } else {
      note("identity")
      completionHandler(identity == nil ? .performDefaultHandling : .useCredential, identity)
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    note("redirection to \(request.url?.path ?? "")")
    completionHandler(request)
  }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
  ) { note("open") }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    note("complete \((error as? URLError)?.errorCode ?? 0)")
  }
}

@Suite(.timeLimit(.minutes(1))) struct URLSessionTests {
  private static let asUsual: @Sendable (SecTrust) -> Delegate.Answer = { _ in (.performDefaultHandling, nil)
  }

  private func session(_ world: World, _ delegate: Delegate) async -> URLSession {
    await world.phone.run { URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil) }
  }

  private func status(_ world: World, _ delegate: Delegate, _ path: String = "/") async throws -> Int? {
    let session = await session(world, delegate)
    defer { session.invalidateAndCancel() }
    return (try await session.bytes(for: URLRequest(url: world.url(path))).1 as? HTTPURLResponse)?.statusCode
  }

  @Test func theOrderOfCalls() async throws {
    let folder = try TestFolder("apple-")
    try DevelopmentCertificates.make(names: [], password: "word", now: SystemClock().wall())
      .write(to: folder.path, overwriting: false)
    var items: CFArray?
    let file = try Data(contentsOf: URL(filePath: folder.file("client.p12")))
    let status = unsafe SecPKCS12Import(file, [kSecImportExportPassphrase: "word"], &items)
    #expect(status == errSecSuccess)
    let item = try #require((items as? [[String: Any]])?.first)
    let identity = try #require(item[kSecImportItemIdentity] as? SecIdentity)
    let credential = URLCredential(identity: identity, certificates: nil, persistence: .forSession)

    let world = try World(asking: .strictly) { request, connection in
      connection.write(accepting(request))
      connection.write(closeCode: 1000)
      _ = connection.readFrame()
    }
    let delegate = Delegate(identity: credential, Self.asUsual)
    let session = await session(world, delegate)
    let task = session.webSocketTask(with: URLRequest(url: try world.url("/", "wss")))
    session.finishTasksAndInvalidate()
    task.resume()
    await #expect(throws: (any Error).self) { try await task.receive() }
    #expect(await eventually { delegate.calls.last == "complete 0" })
    #expect(delegate.calls == ["trust localhost", "identity", "open", "complete 0"])
    #expect(task.closeCode == .normalClosure)
  }

  // MARK: Trust

  /// A credential stands above the system's judgement, as an app that pins a key wants it.
  @Test(arguments: [true, false]) func aCredentialOfTrust(isTrusted: Bool) async throws {
    let world = try World(isTrusted: isTrusted) { _, connection in connection.write(answer("200 OK")) }
    let delegate = Delegate { trust in
      SecTrustEvaluateWithError(trust, nil) == isTrusted
        ? (.useCredential, URLCredential(trust: trust)) : (.cancelAuthenticationChallenge, nil)
    }
    #expect(try await status(world, delegate) == 200)
  }

  @Test func aRefusalSendsNoByteOfHTTP() async throws {
    let world = try World { _, connection in connection.write(answer("200 OK")) }
    let delegate = Delegate { _ in (.cancelAuthenticationChallenge, nil) }
    await #expect(throws: URLError(.cancelled)) { try await status(world, delegate) }
    #expect(await eventually { world.server.ends == 1 })
    #expect(world.server.handshakes == 0 && world.server.requests == [])
  }

  @Test(arguments: [
    URLSession.AuthChallengeDisposition.performDefaultHandling, .rejectProtectionSpace, .useCredential,
  ])
  func whatLeavesItToTheSystem(disposition: URLSession.AuthChallengeDisposition) async throws {
    let world = try World(isTrusted: false) { _, connection in connection.write(answer("200 OK")) }
    await #expect(throws: URLError(.serverCertificateUntrusted)) {
      try await status(world, Delegate { _ in (disposition, nil) })
    }
    #expect(world.server.requests == [])
  }

  @Test func theChainAndItsKey() async throws {
    let world = try World { _, connection in connection.write(answer("200 OK")) }
    let seen = Monitor<[(der: Data, key: Data?)]>([])
    let delegate = Delegate { trust in
      let chain = (SecTrustCopyCertificateChain(trust) ?? []).compactMap { $0 as? SecCertificate }
      let shown = chain.map { certificate in
        let key = SecCertificateCopyKey(certificate)
        return (
          SecCertificateCopyData(certificate), key.flatMap { SecKeyCopyExternalRepresentation($0, nil) }
        )
      }
      seen.withLock { seen, _ in seen = shown }
      return (.performDefaultHandling, nil)
    }
    #expect(try await status(world, delegate) == 200)
    let first = try #require(seen.withLock { seen, _ in seen.first })
    #expect([UInt8](first.der) == world.certificate)
    #expect(first.key?.count == 65 && world.certificate.firstRange(of: [UInt8](first.key ?? Data())) != nil)
  }

  // MARK: Redirections, and the end

  @Test func aRedirectionThatIsFollowed() async throws {
    let world = try World { request, connection in
      connection.write(
        request.hasPrefix("GET /other ") ? answer("204 No") : answer("307 Go", ["Location: /other"]))
    }
    let delegate = Delegate(Self.asUsual)
    #expect(try await status(world, delegate) == 204)
    #expect(delegate.calls == ["trust localhost", "redirection to /other", "trust localhost"])
  }

  @Test func aTaskThatIsCancelledTwice() async throws {
    let world = try World { _, connection in _ = connection.readRequest() }
    let delegate = Delegate(Self.asUsual)
    let session = await session(world, delegate)
    let task = session.webSocketTask(with: URLRequest(url: try world.url("/", "wss")))
    task.resume()
    task.cancel()
    task.cancel()
    session.invalidateAndCancel()
    #expect(await eventually { delegate.calls.contains("complete -999") })
    #expect(delegate.calls.count { $0.hasPrefix("complete") } == 1)
  }

  @Test func aMessageBeyondTheLimit() async throws {
    let world = try World { request, connection in
      connection.write(accepting(request))
      connection.write(frame: 1, Array("12345".utf8))
      _ = connection.readFrame()
    }
    let session = await session(world, Delegate(Self.asUsual))
    let task = session.webSocketTask(with: URLRequest(url: try world.url("/", "wss")))
    task.maximumMessageSize = 4
    session.finishTasksAndInvalidate()
    task.resume()
    await #expect(throws: PosixFailure.messageTooLong) { try await task.receive() }
  }
}
