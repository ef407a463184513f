import Bytes
import Glibc
import Kit
import System
import Testing
import Time

@testable import Admin

@Suite struct TokenTests {
  @Test(arguments: [
    ([AdminActor.Scope.metrics], [true, false, false]), ([.read], [true, true, false]),
    ([.write], [true, true, true]), ([.metrics, .read], [true, true, false]),
  ])
  func scopes(scopes: [AdminActor.Scope], allowed: [Bool]) throws {
    let console = try Console(metricsNeedToken: true)
    let field = try console.token("grafana", Set(scopes))
    let verdicts = [
      try console.get("/metrics", field), try console.get("/api/sessions", field),
      try console.post("/sessions/1/end", [field]),
    ]
    for (verdict, isAllowed) in zip(verdicts, allowed) {
      if isAllowed {
        #expect(verdict.actorName == "grafana")
      } else {
        #expect(verdict == .refused(.scope))
      }
    }
  }

  @Test func numbersAreOpenOnThisHostUnlessTheyAreNot() throws {
    let open = try Console()
    #expect(try open.get("/metrics") == .anybody)
    #expect(try open.get("/metrics", over: .unix(nil)) == .anybody)
    #expect(try open.get("/metrics", over: .tls) == .nobody)
    #expect(
      try open.get("/metrics", open.token("prometheus", [.metrics]), over: .tls).actorName == "prometheus")
    let closed = try Console(metricsNeedToken: true)
    #expect(try closed.get("/metrics") == .nobody)
    #expect(try closed.get("/metrics", closed.signIn().cookieField).actorName == "alice")
  }

  @Test func aTokenEndsInTime() throws {
    let console = try Console()
    let field = try console.token(days: 1)
    console.clock.advance(.seconds(86_400) - .milliseconds(1))
    let actor = try console.get("/", field)
    #expect(actor.actorName == "grafana")
    console.clock.advance(.milliseconds(1))
    #expect(try console.get("/", field) == .refused(.token))
    // Its name is free again, and is the new one's alone.
    let next = try console.token(days: 1)
    #expect(try console.get("/", field) == .refused(.token))
    #expect(try console.get("/", next).actorName == "grafana")
    #expect(console.access.list().tokens.count == 1)
  }

  @Test func aRevokedTokenEndsAtOnce() throws {
    let console = try Console()
    let field = try console.token()
    guard case .actor(let actor, _) = try console.get("/", field) else {
      throw Console.NotSignedIn(verdict: .nobody)
    }
    #expect(console.access.holds(actor))
    let (revoked, failure) = console.access.revoke(.name("grafana"), by: "root")
    #expect(revoked == AdminAccess.Revoked(tokens: 1) && failure == nil)
    #expect(try console.get("/", field) == .refused(.token))
    #expect(!console.access.holds(actor))
    #expect(try console.access.file.read() == AdminTokens())
    // Nor does another one of the same name take it up.
    _ = try console.token()
    #expect(!console.access.holds(actor))
  }

  @Test func revokingEndsAUserAndNobodyElse() throws {
    let console = try Console()
    let (alice, bob) = (try console.signIn("alice"), try console.signIn("bob"))
    _ = console.access.makeLink(for: "alice")
    let field = try console.token()
    #expect(console.access.revoke(.name("alice"), by: "root").0 == AdminAccess.Revoked(links: 1, sessions: 1))
    #expect(try console.get("/", alice.cookieField) == .nobody)
    #expect(try console.get("/", bob.cookieField).actorName == "bob")
    #expect(console.access.revoke(.name("alice"), by: "root").0.isNothing)
    let number = try #require(console.access.list().sessions.first?.number)
    #expect(console.access.revoke(.session(number), by: "root").0 == AdminAccess.Revoked(sessions: 1))
    #expect(try console.get("/", bob.cookieField) == .nobody)
    #expect(console.access.revoke(.all, by: "root").0 == AdminAccess.Revoked(tokens: 1))
    #expect(try console.get("/", field) == .refused(.token))
  }

  /// No cookie counts beside a bearer, and none stands in for a bad one.
  @Test func aBearerCountsAlone() throws {
    let console = try Console()
    let (browser, field) = (try console.signIn(), try console.token())
    #expect(try console.get("/", browser.cookieField, field).actorName == "grafana")
    #expect(
      try console.post("/drain", browser.change + [field], token: browser.formToken) == .refused(.scope))
    let bad = "Authorization: Bearer portcullis_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    #expect(try console.get("/", browser.cookieField, bad) == .refused(.token))
    for fields in [
      ["Authorization: Bearer"], ["Authorization: bearer x"], ["Authorization: BEARER x y"],
      [field + " "] + [field], [field + ", x"],
    ] {
      let head = try? Console.head(["GET / HTTP/1.1", "Host: localhost:8444", browser.cookieField] + fields)
      guard let head else { continue }
      #expect(console.access.judgement(head, nil, over: .loopback) == .refused(.token))
    }
    // A proxy's own passwords are nothing to us.
    #expect(try console.get("/", browser.cookieField, "Authorization: Basic eDp5").actorName == "alice")
  }

  @Test(arguments: [
    "", "-x", ".x", "a b", "a\r\nSet-Cookie: x=y", "a/b", "\u{202E}x", "é", String(repeating: "a", count: 65),
  ])
  func namesThatAreNone(name: String) throws {
    let console = try Console()
    #expect(throws: AdminAccess.TokenFailure.refused(.badName)) { try console.token(name) }
    #expect(console.access.list().tokens.isEmpty)
  }

  @Test func whatCannotBeAToken() throws {
    let console = try Console()
    _ = try console.token("ci")
    for (name, scopes, days, problem) in [
      ("ci", [.read], 1, AdminTokens.Problem.nameTaken), ("alice", [.read], 1, .nameTaken),
      ("x", [], 1, .noScope),
      ("x", [.read], 0, .badTime), ("x", [.read], -1, .badTime), ("x", [.read], 367, .badTime),
    ] as [(String, Set<AdminActor.Scope>, Int, AdminTokens.Problem)] {
      #expect(throws: AdminAccess.TokenFailure.refused(problem)) {
        try console.token(name, scopes, days: days)
      }
    }
    let longest = try console.token("x", [.read], days: 366)
    #expect(try console.get("/", longest).actorName == "x")
  }

  @Test func tokensAreBounded() throws {
    var tokens = AdminTokens()
    let now = UnixTime(milliseconds: 0)
    func token(_ number: Int) -> AdminToken {
      AdminToken(
        named: "token-\(number)", AccessSecret(KernelEntropy()), scopes: [.read], life: .seconds(1), now: now)
    }
    for number in 0..<AdminTokens.limit { try tokens.add(token(number), now: now) }
    #expect(throws: AdminTokens.Problem.tooMany) { try tokens.add(token(AdminTokens.limit), now: now) }
    // As many as there may be are read again.
    let text = tokens.text
    #expect(try AdminTokens(parsing: text.span) == tokens)
  }

  /// What cannot be kept is not given out; what is revoked is, whatever the disk says.
  @Test func aDiskThatFails() throws {
    let console = try Console()
    let field = try console.token()
    console.folder.remove()
    #expect(throws: AdminAccess.TokenFailure.self) { try console.token("other") }
    #expect(console.access.list().tokens.map(\.name) == ["grafana"])
    let (revoked, failure) = console.access.revoke(.name("grafana"), by: "root")
    #expect(revoked.tokens == 1 && failure != nil)
    #expect(try console.get("/", field) == .refused(.token))
    guard case .tokensUnwritten = console.events.all.last else {
      Issue.record("nothing says that the file is old")
      return
    }
  }

  /// A restart would let in again what the file has: it is written by whoever revokes anything next, found or not.
  @Test(arguments: [AdminAccess.Selection.all, .name("grafana"), .name("nobody"), .session(7)])
  func aDiskThatComesBack(next: AdminAccess.Selection) throws {
    let console = try Console()
    _ = try console.token()
    let path = console.folder.path
    try #require(unsafe rename(path, path + "-away") == 0)
    #expect(console.access.revoke(.name("grafana"), by: "root").1 != nil)
    #expect(console.access.revoke(next, by: "root").1 != nil)
    try #require(unsafe rename(path + "-away", path) == 0)
    #expect(try AdminTokenFile(path: "\(path)/admin-tokens.json").read().tokens.map(\.name) == ["grafana"])
    let (revoked, failure) = console.access.revoke(next, by: "root")
    #expect(revoked.isNothing && failure == nil)
    #expect(try AdminTokenFile(path: "\(path)/admin-tokens.json").read().tokens.isEmpty)
  }

  /// The same by a token that is made.
  @Test func aDiskThatComesBackToAnother() throws {
    let console = try Console()
    let field = try console.token()
    let path = console.folder.path
    try #require(unsafe rename(path, path + "-away") == 0)
    _ = console.access.revoke(.name("grafana"), by: "root")
    try #require(unsafe rename(path + "-away", path) == 0)
    _ = try console.token("other")
    #expect(try AdminTokenFile(path: "\(path)/admin-tokens.json").read().tokens.map(\.name) == ["other"])
    #expect(console.access.list().tokens.map(\.name) == ["other"])
    #expect(try console.get("/", field) == .refused(.token))
  }
}

@Suite struct TokenFileTests {
  private let token = AdminToken(
    name: "grafana", scopes: [.read, .metrics], createdAt: UnixTime(milliseconds: 1_800_000_000_000),
    expiresAt: UnixTime(milliseconds: 1_800_086_400_000), hash: Bytes32(words: 1, 2, 3, 4))

  @Test func whatIsWrittenIsReadAgain() throws {
    var tokens = AdminTokens()
    try tokens.add(token, now: token.createdAt)
    let text = tokens.text
    #expect(String(decoding: text, as: UTF8.self).contains("\"name\":\"grafana\""))
    let again = try AdminTokens(parsing: text.span)
    #expect(again == tokens)
    #expect(again.find(token.hash, now: token.createdAt) == token)
  }

  @Test(arguments: [
    ("\"version\":1", "\"version\":2"), ("\"version\":1", "\"version\":1,\"more\":1"),
    ("\"name\":\"grafana\"", "\"name\":\"grafana\",\"more\":1"), ("\"name\":\"grafana\"", "\"name\":\"a b\""),
    ("grafana", "graf\\r\\nana"), ("\"read\"", "\"admin\""), ("[\"metrics\",\"read\"]", "[]"),
    ("sha256", "SHA256"),
    ("0000000000000001", "000000000000001"), ("2027", "27"), ("}]}", "}]},"),
    ("\"tokens\":[", "\"tokens\":[1,"),
    ("}\n", ""), ("{\"version\":1,\"tokens\":", "[1,"),
  ])
  func whatIsNotUnderstoodIsRefused(part: String, other: String) throws {
    var tokens = AdminTokens()
    try tokens.add(token, now: token.createdAt)
    let text = String(decoding: tokens.text, as: UTF8.self)
    #expect(text.contains(part))
    let bytes = Array(text.replacing(part, with: other, maxReplacements: 1).utf8)
    #expect(throws: AdminTokenFileError.self) { try AdminTokens(parsing: bytes.span) }
  }

  @Test func aNameTwiceIsRefused() throws {
    var tokens = AdminTokens()
    try tokens.add(token, now: token.createdAt)
    tokens.tokens.append(token)
    let text = tokens.text
    #expect(throws: AdminTokenFileError.self) { try AdminTokens(parsing: text.span) }
  }

  @Test func onlyItsOwnerReadsTheFile() throws {
    let folder = try TestFolder("admin-")
    let file = AdminTokenFile(path: "\(folder.path)/admin-tokens.json")
    #expect(try file.read() == AdminTokens())
    var tokens = AdminTokens()
    try tokens.add(token, now: token.createdAt)
    try file.write(tokens)
    #expect(try FileStatus.of(file.path).mode == 0o600)
    #expect(try file.read() == tokens)
    try file.write(AdminTokens())
    #expect(try file.read() == AdminTokens())
  }
}
