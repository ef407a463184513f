/// Whoever asks at the console (docs/console.md, "Signing in"): without a secret that is in the request nobody is let in,
/// whatever else is in it, and a change by cookie has the form's token and a word on where it comes from.
internal import Addresses
@testable internal import Admin
internal import HTTPWire
internal import Synchronization
internal import System
internal import Time

enum AdminAccessHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    var parser = RequestParser()
    guard case .head(let head, let consumed) = parser.parse(bytes.span) else { return .refused }
    let isChange = head.method != .get && head.method != .head
    let form = isChange ? (try? AdminForm(parsing: Array(bytes[consumed...]).span)) ?? AdminForm() : nil
    var isIn = false
    for transport in [AdminTransport.tls, .loopback, .unix(nil)] {
      // Each with links and sessions of its own: a request may use them up.
      let console = Console()
      let text = String(decoding: bytes, as: UTF8.self)
      switch console.access.judgement(head, form, over: transport) {
      case .anybody:
        let open = ["/livez", "/readyz", "/style.css", "/console.js", "/icon.svg", "/metrics"]
        try require(open.contains(head.path), "\(head.path) needs nobody")
        try require(head.path != "/metrics" || transport != .tls, "numbers for everybody")
        try requireOurName(head)
      case .actor(let actor, let formToken):
        isIn = true
        try requireOurName(head)
        try console.requireGood(actor, formToken, isChange, form, head, text)
      case .signedIn(let cookie):
        isIn = true
        try requireOurName(head)
        try require(text.contains(console.link), "signed in without a link")
        try requireOneField(cookie)
      case .signedOut(let cookie):
        try require(isChange && head.path == "/sign-out", "signed out by looking")
        if let cookie {
          try require(
            text.contains(console.cookie) && form?["token"] == console.formToken, "signed out by others")
          try requireOneField(cookie)
        }
      case .page(_, .button): try require(text.contains(console.link), "a button without a link")
      case .nobody, .refused, .page: break
      }
    }
    return isIn ? .accepted : .refused
  }

  private static func requireOurName(_ head: RequestHead) throws(BrokenProperty) {
    if ["/livez", "/readyz"].contains(head.path) { return }
    let host = (head.host ?? "").lowercased()
    var name = Substring(host)
    if !name.hasSuffix("]"), let colon = name.lastIndex(of: ":") { name = name[..<colon] }
    if name.hasPrefix("[") { name = name.dropFirst().dropLast() }
    if name.hasSuffix(".") { name = name.dropLast() }
    try require(
      IPAddress(String(name)) != nil || ["localhost", "gate.example.org"].contains(name),
      "called by another name: \(host)")
  }

  private static func requireOneField(_ cookie: String) throws(BrokenProperty) {
    try require(
      cookie.utf8.allSatisfy { (0x20...0x7E).contains($0) } && cookie.split(separator: ";").count <= 6,
      "a cookie with more in it: \(cookie)")
  }

  /// With one link, one session and one token, the same each time.
  private struct Console {
    let access: AdminAccess
    let link: String
    let cookie: String
    let formToken: String
    let token: String

    init() {
      let entropy = Counted()
      let now = UnixTime(milliseconds: 1_800_000_000_000)
      let (secret, session, form) = (AccessSecret(entropy), AccessSecret(entropy), AccessSecret(entropy))
      var tokens = AdminTokens()
      try? tokens.add(
        AdminToken(named: "reader", secret, scopes: [.read], life: .seconds(86_400), now: now), now: now)
      access = AdminAccess(
        AdminAccess.Settings(
          hosts: HostRule(names: ["gate.example.org"]), users: ["alice": 1000], metricsNeedToken: false),
        tokens: tokens, file: AdminTokenFile(path: "/nowhere"), clock: Still(), entropy: entropy,
        page: { _ in [] }, tell: { _ in })
      (token, cookie, formToken) = (AdminToken.prefix + secret.text, session.text, form.text)
      _ = access.state.withLock { state in
        state.sessions.begin(
          session.hash, formToken: form.text, user: "alice", now: MonotonicTime(nanoseconds: 0), at: now)
      }
      link = access.makeLink(for: "alice")
    }

    func requireGood(
      _ actor: AdminActor, _ formToken: String, _ isChange: Bool, _ form: AdminForm?, _ head: RequestHead,
      _ text: String
    ) throws(BrokenProperty) {
      switch actor.grant {
      case .token:
        try require(text.contains(token) && actor.name == "reader", "another's token")
        try require(!isChange && formToken.isEmpty, "a token that reads has changed something")
      case .session:
        try require(text.contains(cookie) && actor.name == "alice", "another's cookie")
        guard isChange else { return }
        try require(form?["token"] == self.formToken, "a change without the form's token")
        let site = head.value("Sec-Fetch-Site")
        try require(
          site == "same-origin" || site == nil && head.value("Origin").map { $0 != "null" } == true,
          "a change of another site")
      case .none: try require(false, "an actor from nowhere")
      }
    }
  }

  /// 32 times the same byte, each time the next one.
  private final class Counted: Entropy {
    private let calls = Mutex<UInt8>(0)

    func fill(_ bytes: inout MutableSpan<UInt8>) {
      let call = calls.withLock { calls in
        calls += 1
        return calls
      }
      for index in bytes.indices { bytes[index] = call }
    }
  }

  private struct Still: Clock {
    func monotonic() -> MonotonicTime { MonotonicTime(nanoseconds: 1) }
    func wall() -> UnixTime { UnixTime(milliseconds: 1_800_000_000_001) }
  }
}
