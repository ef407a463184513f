/// From a whole request to its answer, or to the work that makes it: which path is whose, in the order in which it is
/// asked.
internal import HTTPWire

struct AdminRouting: Sendable {
  let handler: any AdminHandler
  /// Who it is: `AdminAccess.judge`.
  let judge: Judge
  /// Whether a request has come by a name of ours: `AdminAccess.isCalled`.
  var isCalled: @Sendable (String?) -> Bool = { _ in true }
  /// Whether somebody still may what he was let in for: `AdminAccess.holds`.
  var holds: @Sendable (AdminActor) -> Bool = { _ in true }

  typealias Judge = @Sendable (RequestHead, AdminForm?, AdminTransport) -> AdminVerdict

  enum Outcome: Sendable {
    case reply(AdminReply)
    /// For the slow thread.
    case work(AdminRequest)
  }

  /// Waits for nothing.
  func outcome(_ call: AdminCall, over transport: AdminTransport) -> Outcome {
    let head = call.head
    let isReading = head.method == .get || head.method == .head
    // Paths are compared as they came: one that needs decoding is nobody's.
    let path = head.path
    switch path {
    case "/livez", "/readyz":
      guard isReading else { return .reply(.methodNotAllowed("GET, HEAD")) }
      return .reply(path == "/livez" ? liveness : readiness(isVerbose: Self.isVerbose(head.query)))
    default: break
    }
    guard isReading || head.method == .post else {
      return .reply(path == "/metrics" ? .methodNotAllowed("GET, HEAD") : .methodNotAllowed())
    }
    // What is the same for everybody, too, is for those who call us by our name.
    guard isCalled(head.host) else {
      return .reply(.text(.misdirectedRequest, AdminRefusal.host.rawValue))
    }
    if isReading, let asset = handler.asset(path) {
      let isVersioned = head.query?.hasPrefix("v=") ?? false
      return .reply(AdminReply(asset, isVersioned: isVersioned).answering(head.listElements("if-none-match")))
    }
    let form: AdminForm?
    let query: AdminForm
    do {
      query = try AdminForm(parsing: Array((head.query ?? "").utf8).span)
      form = isReading ? nil : try AdminForm(parsing: call.body.span)
    } catch {
      return .reply(.text(.badRequest, "the query or the form cannot be read: \(error)"))
    }
    if !isReading, !call.body.isEmpty, !Self.isForm(head) {
      return .reply(.text(.unsupportedMediaType, "a change is a form: application/x-www-form-urlencoded"))
    }
    return judged(head, path, query, form, over: transport)
  }

  private func judged(
    _ head: RequestHead, _ path: String, _ query: AdminForm, _ form: AdminForm?,
    over transport: AdminTransport
  ) -> Outcome {
    switch judge(head, form, transport) {
    case .nobody: return .reply(Self.unknown(path, isChange: form != nil))
    case .refused(.token): return .reply(.unauthorized())
    case .refused(let refusal): return .reply(.text(refusal.status, refusal.rawValue))
    case .answer(let answer): return .reply(AdminReply(answer, isVersioned: false))
    case .signed(let cookie, let path):
      var reply = AdminReply.seeOther(path)
      reply.add("Set-Cookie", cookie)
      return .reply(reply)
    case .actor(let actor, let formToken):
      if path == "/metrics" {
        guard form == nil else { return .reply(.methodNotAllowed("GET, HEAD")) }
        return .reply(AdminReply(.ok, type: "text/plain; version=0.0.4; charset=utf-8", handler.metrics()))
      }
      let request = AdminRequest(
        path: path, isChange: form != nil, query: query, form: form ?? AdminForm(), actor: actor,
        formToken: formToken)
      guard let answer = handler.answerAtOnce(request) else { return .work(request) }
      return .reply(AdminReply(answer, isVersioned: false).answering(head.listElements("if-none-match")))
    }
  }

  /// Somebody with a browser is led on; a program is told what it lacks.
  private static func unknown(_ path: String, isChange: Bool) -> AdminReply {
    isChange || path == "/metrics" || path.hasPrefix("/api/") ? .unauthorized() : .seeOther("/sign-in")
  }

  /// Whatever parameters it has.
  private static func isForm(_ head: RequestHead) -> Bool {
    let type = head.value("content-type")?.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
    return type?.lowercased() == "application/x-www-form-urlencoded"
  }
}

// MARK: - Probes

extension AdminRouting {
  private var liveness: AdminReply {
    handler.isAlive ? .text(.ok, "ok") : .text(.serviceUnavailable, "an event loop does not answer")
  }

  /// One line, or with `?verbose` one for each check.
  private func readiness(isVerbose: Bool) -> AdminReply {
    let readiness = handler.readiness
    var lines: [String] = []
    if isVerbose { lines = readiness.checks.map(Self.line) }
    let names = readiness.checks.filter { $0.state == readiness.state }.map(\.name).joined(separator: ", ")
    lines.append(readiness.state == .ok ? "ok" : "\(readiness.state.rawValue): \(names)")
    return .text(readiness.state == .failed ? .serviceUnavailable : .ok, lines.joined(separator: "\n"))
  }

  private static func line(_ check: Readiness.Check) -> String {
    let sign =
      switch check.state {
      case .ok: "+"
      case .degraded: "!"
      case .failed: "-"
      }
    return "[\(sign)]\(check.name) \(check.state.rawValue)" + (check.detail.map { ": \($0)" } ?? "")
  }

  private static func isVerbose(_ query: String?) -> Bool {
    query?.split(separator: "&").contains { $0 == "verbose" || $0.hasPrefix("verbose=") } ?? false
  }
}

extension AdminRefusal {
  fileprivate var status: Status {
    switch self {
    case .host: .misdirectedRequest
    case .origin, .formToken, .scope: .forbidden
    case .token: .unauthorized
    }
  }
}
