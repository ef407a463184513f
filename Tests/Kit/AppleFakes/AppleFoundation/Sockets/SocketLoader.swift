/// Loads a task over a connection of its own, on a thread of its own: both challenges, redirections, and the upgrade.
internal import CLinux
internal import Dialing
internal import Glibc
internal import Synchronization
internal import System

final class SocketLoader: Loader {
  enum Job: Sendable {
    case message(URLSessionWebSocketTask.Message)
    case ping
    case close(Int, [UInt8])
  }

  private struct Work {
    var jobs: [(Job, @Sendable ((any Error)?) -> Void)] = []
    var pongs: [@Sendable ((any Error)?) -> Void] = []
    var isOver = false
    var redirections = 0
  }

  private let network: FakeNetwork
  private let work = Mutex(Work())
  private let bell: OwnedDescriptor

  init(_ network: FakeNetwork) {
    self.network = network
    bell = OwnedDescriptor(owning: portcullis_eventfd())
  }

  // MARK: From the task

  func begin(_ task: URLSessionTask) {
    do throws(SystemError) {
      let thread = try Thread(name: "urlsession") { [self] in load(task) }
      thread.detach()
    } catch {
      fatalError("\(error)")
    }
  }

  func abandon() {
    let jobs = work.withLock { work in
      work.isOver = true
      defer { (work.jobs, work.pongs) = ([], []) }
      return work.jobs
    }
    for (_, done) in jobs { done(URLError(.cancelled)) }
    ring()
  }

  func send(
    _ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable ((any Error)?) -> Void
  ) { add(.message(message), done) }

  func ping(_ pong: @escaping @Sendable ((any Error)?) -> Void) {
    // A task that has ended is silent about it.
    work.withLock { work in work.pongs.append(pong) }
    add(.ping) { _ in }
  }

  func close(_ code: Int, reason: [UInt8]) { add(.close(code, reason)) { _ in } }

  func goOn() { ring() }

  private func add(_ job: Job, _ done: @escaping @Sendable ((any Error)?) -> Void) {
    let isOver = work.withLock { work in
      if !work.isOver { work.jobs.append((job, done)) }
      return work.isOver
    }
    if isOver { done(PosixFailure.notConnected) } else { ring() }
  }

  private func ring() {
    var one: UInt64 = 1
    // An eventfd takes eight bytes at once.
    _ = unsafe write(bell.number, &one, 8)
  }

  // MARK: On the thread

  private func load(_ task: URLSessionTask) {
    do throws(URLError) {
      if let task = task as? URLSessionWebSocketTask {
        try SocketWebSocket(self, task, task.request).run()
      } else {
        try load(task, task.request)
      }
    } catch {
      task.finish(error)
    }
  }

  private func load(_ task: URLSessionTask, _ request: URLRequest) throws(URLError) {
    var exchange = try SocketExchange(self, task, request)
    try exchange.send([])
    let head = try exchange.readHead()
    let response = HTTPURLResponse(head.response)
    if let next = try redirection(task, response, from: request) { return try load(task, next) }
    task.take(response)
    while let bytes = try exchange.readBody(of: head) {
      if task.isOver { return }
      task.take(bytes)
    }
    task.finish(nil)
  }

  /// Where the delegate lets the task go on.
  func redirection(
    _ task: URLSessionTask, _ response: HTTPURLResponse, from request: URLRequest
  ) throws(URLError) -> URLRequest? {
    guard [301, 302, 303, 307, 308].contains(response.statusCode),
      let location = response.value(forHTTPHeaderField: "Location"),
      let url = URL(string: location, relativeTo: request.url)?.absoluteURL
    else { return nil }
    let count = work.withLock { work in
      work.redirections += 1
      return work.redirections
    }
    // Apple's limit is not documented; about so many are reported.
    if count > 20 { throw URLError(.httpTooManyRedirects) }
    var next = request
    next.url = url
    return task.follow(response, to: next)
  }

  func connect(_ task: URLSessionTask, to url: URL?) throws(URLError) -> TLSSocket {
    guard let url, let host = url.host, ["https", "wss"].contains(url.scheme) else {
      throw URLError(url?.host == nil ? .badURL : .appTransportSecurityRequiresSecureConnection)
    }
    let questions = TLSQuestions(
      trusts: { [network] chain in
        self.trusts(PeerTrust(chain: chain, host: host, roots: network.roots), task)
      },
      identity: { self.identity(task, host) })
    do throws(URLError) {
      return try TLSSocket(
        host: host, port: UInt16(clamping: url.port ?? 443), for: task, bell: bell.number, questions)
    } catch {
      // What a delegate or the system has said comes before what TLS made of it.
      throw verdict.withLock { $0 } ?? error
    }
  }

  /// Why the last server was not trusted.
  private let verdict = Mutex<URLError?>(nil)

  private func trusts(_ peer: PeerTrust, _ task: URLSessionTask) -> Bool {
    let space = URLProtectionSpace(method: NSURLAuthenticationMethodServerTrust, host: peer.host, peer: peer)
    let refusal = refusal(task.ask(space), peer)
    verdict.withLock { verdict in verdict = refusal.map { URLError($0) } }
    return refusal == nil
  }

  private func refusal(
    _ answer: (URLSession.AuthChallengeDisposition, URLCredential?)?, _ peer: PeerTrust
  ) -> URLError.Code? {
    guard let (disposition, credential) = answer, disposition != .cancelAuthenticationChallenge else {
      return .cancelled
    }
    if disposition == .useCredential, case .trust = credential?.content { return nil }
    return peer.verdict()
  }

  private func identity(_ task: URLSessionTask, _ host: String) -> ShownIdentity? {
    let method = NSURLAuthenticationMethodClientCertificate
    guard
      case (.useCredential, let credential?)? = task.ask(
        URLProtectionSpace(method: method, host: host, peer: nil)),
      case .identity(let identity) = credential.content
    else { return nil }
    return identity
  }

  // MARK: For its WebSocket

  func clearBell() {
    var count: UInt64 = 0
    _ = unsafe read(bell.number, &count, 8)
  }

  func takeJobs() -> [(Job, @Sendable ((any Error)?) -> Void)] {
    work.withLock { work in
      defer { work.jobs = [] }
      return work.jobs
    }
  }

  func pong() {
    let pongs = work.withLock { work in
      defer { work.pongs = [] }
      return work.pongs
    }
    for pong in pongs {
      pong(nil)
      if network.pongs == .twice { pong(nil) }
    }
  }

  var codeOfLost: Int { network.codeOfLost }
}

extension HTTPURLResponse {
  convenience init(_ response: GateResponse) {
    self.init(status: response.status, fields: response.fields.map { ($0.name, $0.value) })
  }
}
