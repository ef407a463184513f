/// Who may see and change: asked once for each request, and the only place that says so (docs/console.md, "Signing in").
///
/// 1. Probes are anybody's. 2. All else is called by a name that is ours. 3. A bearer counts, or else a cookie, never
/// both. 4. A change by cookie comes from a page of our own. 5. The scope covers it.
internal import Bytes
package import HTTPWire
internal import Synchronization
internal import System
package import Time

/// What a request comes to, before there is a page of it.
enum AdminJudgement: Equatable {
  /// It needs nobody: a probe, numbers where they are open, what the page to sign in is made of.
  case anybody
  case actor(AdminActor, formToken: String)
  case nobody
  case refused(AdminRefusal)
  case page(AdminStatus, SignInState)
  /// - Parameter cookie: the value of `Set-Cookie`.
  case signedIn(cookie: String)
  case signedOut(cookie: String?)
}

/// What the pages around signing in say.
package enum SignInState: Equatable, Sendable {
  case howTo
  /// Its button posts to the same address.
  case button(path: String, user: String)
  /// The link is used, too old, or none.
  case linkEnded
  case signedOut
}

package final class AdminAccess: Sendable {
  package struct Settings: Equatable, Sendable {
    package var hosts: HostRule
    /// Who may be signed in, with their numbers on the host; others that are leave.
    package var users: [String: UInt32]
    package var metricsNeedToken: Bool

    package init(hosts: HostRule, users: [String: UInt32], metricsNeedToken: Bool) {
      self.hosts = hosts
      self.users = users
      self.metricsNeedToken = metricsNeedToken
    }
  }

  struct State {
    var settings: Settings
    var links = SignInLinks()
    var sessions = AdminSessions()
    var tokens: AdminTokens
    /// It has tokens that were revoked, as it could not be written since.
    var isFileOld = false
  }

  let state: Mutex<State>
  /// Held while the file is written, which a request does not wait for.
  let writing = Mutex<Void>(())
  let file: AdminTokenFile
  let clock: any Clock
  let entropy: any Entropy
  /// HTML of the pages around signing in.
  private let page: @Sendable (SignInState) -> [UInt8]
  let tell: @Sendable (AdminAccessEvent) -> Void

  /// - Parameter tell: called on whatever thread something happens, for the log.
  package init(
    _ settings: Settings, tokens: AdminTokens, file: AdminTokenFile, clock: any Clock, entropy: any Entropy,
    page: @escaping @Sendable (SignInState) -> [UInt8],
    tell: @escaping @Sendable (AdminAccessEvent) -> Void
  ) {
    state = Mutex(State(settings: settings, tokens: tokens))
    self.file = file
    self.clock = clock
    self.entropy = entropy
    self.page = page
    self.tell = tell
  }

  // MARK: A request

  /// - Parameter form: of a change, when its body has been read.
  package func judge(
    _ head: RequestHead, _ form: AdminForm?, over transport: AdminTransport
  ) -> AdminVerdict {
    switch judgement(head, form, over: transport) {
    case .anybody: .actor(.anybody, formToken: "")
    case .actor(let actor, let formToken): .actor(actor, formToken: formToken)
    case .nobody: .nobody
    case .refused(let refusal): .refused(refusal)
    case .page(let status, let state): .answer(.page(status, page(state)))
    case .signedIn(let cookie): .signed(cookie: cookie, to: "/?done=signed-in")
    case .signedOut(nil): .answer(.seeOther(Self.signedOutPath))
    case .signedOut(let cookie?): .signed(cookie: cookie, to: Self.signedOutPath)
    }
  }

  private static let signedOutPath = "/sign-in?signed-out"

  func judgement(
    _ head: RequestHead, _ form: AdminForm?, over transport: AdminTransport
  ) -> AdminJudgement {
    let place = AdminPlace(head.path)
    if place == .probe { return .anybody }
    let settings = state.withLock { $0.settings }
    guard settings.hosts.permits(head.host) else { return .refused(.host) }
    let isChange = head.method != .get && head.method != .head
    switch place {
    case .probe, .open: return .anybody
    case .signIn: return .page(.ok, head.query == "signed-out" ? .signedOut : .howTo)
    case .link(let code):
      return isChange ? signIn(code, head, transport) : button(for: code, head.path)
    case .metrics:
      if !transport.isTLS, !settings.metricsNeedToken { return .anybody }
      return actor(head, form, needing: .metrics, transport)
    case .signOut:
      guard isChange else { return .page(.ok, .howTo) }
      return signOut(head, form, transport)
    case .console: return actor(head, form, needing: isChange ? .write : .read, transport)
    }
  }

  /// Whether a request has come by a name of ours.
  package func isCalled(_ host: String?) -> Bool { state.withLock { $0.settings.hosts }.permits(host) }

  /// Whether somebody who was let in still would be: what is revoked ends at once, also in the middle of a download.
  package func holds(_ actor: AdminActor) -> Bool {
    let (now, time) = (clock.monotonic(), clock.wall())
    return state.withLock { state in
      switch actor.grant {
      case .session(let number): state.sessions.holds(number, now: now)
      case .token(let hash): state.tokens.find(hash, now: time) != nil
      case .none: true
      }
    }
  }

  private func actor(
    _ head: RequestHead, _ form: AdminForm?, needing scope: AdminActor.Scope, _ transport: AdminTransport
  ) -> AdminJudgement {
    switch Bearer(head) {
    case .none: break
    case .malformed: return .refused(.token)
    case .shown(let hash):
      let time = clock.wall()
      guard let token = state.withLock({ $0.tokens.find(hash, now: time) }) else {
        return .refused(.token)
      }
      let actor = AdminActor(name: token.name, scopes: token.scopes.withIncluded, grant: .token(hash))
      return actor.scopes.contains(scope) ? .actor(actor, formToken: "") : .refused(.scope)
    }
    guard let session = session(head, transport) else { return .nobody }
    if head.method != .get, head.method != .head {
      if let refusal = Self.refusal(head, form, session, transport) { return .refused(refusal) }
    }
    return .actor(
      AdminActor(
        name: session.user, scopes: Set(AdminActor.Scope.allCases), grant: .session(session.number),
        user: state.withLock { $0.settings.users[session.user] }),
      formToken: session.formToken)
  }

  private func session(_ head: RequestHead, _ transport: AdminTransport) -> AdminSessions.Session? {
    guard let hash = ConsoleCookie.value(head, isTLS: transport.isTLS).flatMap({ AccessSecret.hash(of: $0) })
    else { return nil }
    let (now, time) = (clock.monotonic(), clock.wall())
    // What pages fetch by themselves every two seconds: an open tab is nobody who does something.
    let isActivity = !head.pathBegins(with: "/api/")
    return state.withLock { $0.sessions.use(hash, isActivity: isActivity, now: now, at: time) }
  }

  /// Why a change is not the operator's own; nil when it is.
  private static func refusal(
    _ head: RequestHead, _ form: AdminForm?, _ session: AdminSessions.Session, _ transport: AdminTransport
  ) -> AdminRefusal? {
    guard OriginRule.permits(head, isTLS: transport.isTLS) else { return .origin }
    let shown = Array((form?["token"] ?? "").utf8)
    let expected = Array(session.formToken.utf8)
    return equalInConstantTime(shown.span, expected.span) ? nil : .formToken
  }

  // MARK: Signing in and out

  private func button(for code: String, _ path: String) -> AdminJudgement {
    let now = clock.monotonic()
    guard let hash = AccessSecret.hash(of: code),
      let user = state.withLock({ $0.links.owner(of: hash, now: now) })
    else { return .page(.forbidden, .linkEnded) }
    return .page(.ok, .button(path: path, user: user))
  }

  /// Another site must not sign its visitor in as somebody of its choice.
  private func signIn(_ code: String, _ head: RequestHead, _ transport: AdminTransport) -> AdminJudgement {
    guard OriginRule.permits(head, isTLS: transport.isTLS) else { return .refused(.origin) }
    let (cookie, form) = (AccessSecret(entropy), AccessSecret(entropy))
    let (now, time) = (clock.monotonic(), clock.wall())
    let former = ConsoleCookie.value(head, isTLS: transport.isTLS).flatMap { AccessSecret.hash(of: $0) }
    guard let hash = AccessSecret.hash(of: code) else { return .page(.forbidden, .linkEnded) }
    let signedIn = state.withLock { state -> (user: String, session: UInt64)? in
      // A link that was made while a reload took its owner out is his no more.
      guard let user = state.links.use(hash, now: now), state.settings.users[user] != nil else { return nil }
      // Whose browser it was until now.
      if let former, let old = state.sessions.use(former, now: now, at: time) {
        _ = state.sessions.end(now) { $0.number == old.number }
      }
      let session = state.sessions.begin(cookie.hash, formToken: form.text, user: user, now: now, at: time)
      return (user, session)
    }
    guard let signedIn else { return .page(.forbidden, .linkEnded) }
    tell(.signedIn(user: signedIn.user, session: signedIn.session))
    return .signedIn(cookie: ConsoleCookie.setting(cookie.text, head, isTLS: transport.isTLS))
  }

  private func signOut(_ head: RequestHead, _ form: AdminForm?, _ transport: AdminTransport) -> AdminJudgement
  {
    guard let session = session(head, transport) else { return .signedOut(cookie: nil) }
    if let refusal = Self.refusal(head, form, session, transport) { return .refused(refusal) }
    let now = clock.monotonic()
    _ = state.withLock { $0.sessions.end(now) { $0.number == session.number } }
    tell(.signedOut(user: session.user, session: session.number))
    return .signedOut(cookie: ConsoleCookie.setting(nil, head, isTLS: transport.isTLS))
  }
}

extension AdminTransport {
  var isTLS: Bool { self == .tls }
}

extension Set<AdminActor.Scope> {
  /// Who may change may look, and who may look may see the numbers.
  var withIncluded: Self {
    var all = self
    if all.contains(.write) { all.insert(.read) }
    if all.contains(.read) { all.insert(.metrics) }
    return all
  }
}
