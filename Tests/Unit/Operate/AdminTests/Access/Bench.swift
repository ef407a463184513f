/// One console with a clock that stands still until it is told, and requests as a browser or an attacker writes them.
import Bytes
import HTTPWire
import Kit
import Synchronization
import System
import Testing
import Time

@testable import Admin

final class Console {
  let clock = ManualClock(wall: 1_800_000_000_000)
  let access: AdminAccess
  let folder: TestFolder
  let events = Events()

  final class Events: Sendable {
    private let list = Mutex<[AdminAccessEvent]>([])
    var all: [AdminAccessEvent] { list.withLock { $0 } }
    func add(_ event: AdminAccessEvent) { list.withLock { $0.append(event) } }
  }

  init(
    hosts: [String] = ["gate.example.org", "*.games.example"],
    users: [String: UInt32] = ["root": 0, "alice": 1000, "bob": 1001],
    metricsNeedToken: Bool = false
  ) throws {
    folder = try TestFolder("admin-")
    let events = events
    access = AdminAccess(
      AdminAccess.Settings(
        hosts: HostRule(names: hosts), users: users, metricsNeedToken: metricsNeedToken),
      tokens: AdminTokens(), file: AdminTokenFile(path: "\(folder.path)/admin-tokens.json"), clock: clock,
      entropy: KernelEntropy(), page: { Array("\($0)".utf8) }, tell: { events.add($0) })
  }

  // MARK: Requests

  static func head(_ lines: String...) throws -> RequestHead { try head(lines) }

  static func head(_ lines: [String]) throws -> RequestHead {
    var parser = RequestParser()
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    guard case .head(let head, _) = parser.parse(bytes.span) else { throw NotAHead(lines: lines) }
    return head
  }

  struct NotAHead: Error { let lines: [String] }

  func get(
    _ path: String, _ fields: String..., host: String = "localhost:8444",
    over transport: AdminTransport = .loopback
  ) throws -> AdminJudgement {
    try access.judgement(Self.head(["GET \(path) HTTP/1.1", "Host: \(host)"] + fields), nil, over: transport)
  }

  func post(
    _ path: String, _ fields: [String], token: String? = nil, host: String = "localhost:8444",
    over transport: AdminTransport = .loopback
  ) throws -> AdminJudgement {
    let head = try Self.head(["POST \(path) HTTP/1.1", "Host: \(host)", "Content-Length: 0"] + fields)
    return access.judgement(head, AdminForm(token.map { [("token", $0)] } ?? []), over: transport)
  }

  // MARK: Browsers

  struct Browser {
    /// `name=value`
    let cookie: String
    let formToken: String
    let actor: AdminActor

    var cookieField: String { "Cookie: \(cookie)" }
    /// What Chromium sends with a form of a page of the console.
    var change: [String] { [cookieField, "Origin: http://localhost:8444", "Sec-Fetch-Site: same-origin"] }
  }

  func signIn(_ user: String = "alice", host: String = "localhost:8444") throws -> Browser {
    let path = access.makeLink(for: user)
    let verdict = try post(path, ["Origin: http://\(host)"], host: host)
    guard case .signedIn(let setting) = verdict else { throw NotSignedIn(verdict: verdict) }
    let cookie = String(setting.prefix { $0 != ";" })
    let seen = try get("/", "Cookie: \(cookie)", host: host)
    guard case .actor(let actor, let formToken) = seen else { throw NotSignedIn(verdict: seen) }
    return Browser(cookie: cookie, formToken: formToken, actor: actor)
  }

  struct NotSignedIn: Error { let verdict: AdminJudgement }

  func token(
    _ name: String = "grafana", _ scopes: Set<AdminActor.Scope> = [.read], days: Int = 90
  ) throws -> String {
    let made = try access.makeToken(named: name, scopes: scopes, life: .seconds(days * 86_400), by: "root")
    return "Authorization: Bearer \(made.secret)"
  }
}

extension AdminJudgement {
  var actorName: String? { if case .actor(let actor, _) = self { actor.name } else { nil } }
}
