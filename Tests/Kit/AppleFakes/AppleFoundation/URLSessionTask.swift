/// One request of a session: what its loader finds out reaches the delegate in Apple's order, and its end once.
internal import Synchronization

@available(iOS 7.0, *)
open class URLSessionTask: NSObject, @unchecked Sendable {
  private struct State {
    /// Kept until the delegate has heard of the end.
    var session: URLSession?
    var response: URLResponse?
    var isResumed = false
    var isOver = false
    /// What the loader's thread waits for.
    var question: (@Sendable () -> Void)?
  }

  package let request: URLRequest
  package let patience: Double
  let loader: any Loader
  private let state: Mutex<State>

  package init(_ request: URLRequest, in session: URLSession) {
    self.request = request
    patience = session.patience
    loader = session.device[FakeNetwork.self].loader(for: request)
    state = Mutex(State(session: session))
  }

  open var response: URLResponse? { state.withLock(\.response) }

  open func resume() {
    let isFirst = state.withLock { state in
      defer { state.isResumed = true }
      return !state.isResumed && !state.isOver
    }
    if isFirst { loader.begin(self) }
  }

  open func cancel() { finish(URLError(.cancelled)) }

  // MARK: For what loads it

  package var isOver: Bool { state.withLock(\.isOver) }

  package func take(_ response: HTTPURLResponse) {
    state.withLock { state in state.response = response }
    didReceive(response)
  }

  package func take(_ bytes: [UInt8]) { didReceive(bytes) }

  /// Later ends say nothing.
  package func finish(_ error: URLError?) {
    let (session, question) = state.withLock { state -> (URLSession?, (@Sendable () -> Void)?) in
      guard !state.isOver else { return (nil, nil) }
      state.isOver = true
      defer { (state.session, state.question) = (nil, nil) }
      return (state.session, state.question)
    }
    guard let session else { return }
    question?()
    loader.abandon()
    didEnd(error)
    session.call { [self] in
      if tellsDelegateOfEnd {
        taskDelegate(session)?.urlSession(session, task: self, didCompleteWithError: error)
      }
      session.remove(self)
    }
  }

  /// Asks the delegate, and waits; nil when the task has ended meanwhile.
  package func ask(_ space: URLProtectionSpace) -> (URLSession.AuthChallengeDisposition, URLCredential?)? {
    wait { session, answer in
      guard let delegate = self.taskDelegate(session) else { return answer((.performDefaultHandling, nil)) }
      delegate.urlSession(
        session, task: self, didReceive: URLAuthenticationChallenge(space),
        completionHandler: { answer(($0, $1)) })
    }
  }

  /// Where to go on; nil: the answer is the last one.
  package func follow(_ response: HTTPURLResponse, to request: URLRequest) -> URLRequest? {
    let followed: URLRequest?? = wait { session, answer in
      guard let delegate = self.taskDelegate(session) else { return answer(request) }
      delegate.urlSession(
        session, task: self, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: { answer($0) })
    }
    return followed ?? nil
  }

  func tell(_ body: @escaping @Sendable (URLSession) -> Void) {
    guard let session = state.withLock(\.session) else { return }
    session.call { body(session) }
  }

  private func taskDelegate(_ session: URLSession) -> (any URLSessionTaskDelegate)? {
    session.delegate as? any URLSessionTaskDelegate
  }

  private func wait<Answer: Sendable>(
    _ ask: @escaping @Sendable (URLSession, @escaping @Sendable (Answer) -> Void) -> Void
  ) -> Answer? {
    let reply = Reply<Answer>()
    let session = state.withLock { state in
      state.question = { reply.end() }
      return state.session
    }
    guard let session else { return nil }
    session.call { ask(session) { reply.resume($0) } }
    return reply.wait()
  }

  // MARK: For its kinds

  package func didReceive(_ response: URLResponse) {}
  package func didReceive(_ bytes: [UInt8]) {}
  package func didEnd(_ error: URLError?) {}
  package var tellsDelegateOfEnd: Bool { true }
}

/// An answer that one thread waits for. A second one ends the app, as on Apple's systems.
private final class Reply<Answer: Sendable>: Sendable {
  private let answer = Mutex<(value: Answer?, isGiven: Bool)>((nil, false))
  private let semaphore = DispatchSemaphore(value: 0)

  func resume(_ value: Answer) {
    let wasGiven = answer.withLock { answer in
      defer { answer = (value, true) }
      return answer.isGiven
    }
    if wasGiven { fatalError("a completion handler was called twice") }
    semaphore.signal()
  }

  func end() { semaphore.signal() }

  func wait() -> Answer? {
    semaphore.wait()
    return answer.withLock(\.value)
  }
}
