import Bytes
import Kit
import System
import Testing

@testable import Admin

@Suite struct SignInTests {
  /// Asked for before a reload and made behind it.
  @Test func aLinkOfWhoIsNoOperatorAnyMore() throws {
    let console = try Console()
    let path = console.access.makeLink(for: "mallory")
    #expect(try console.post(path, ["Origin: http://localhost:8444"]) == .page(.forbidden, .linkEnded))
    #expect(console.access.list().sessions.isEmpty)
  }

  @Test func aLinkSignsInOnce() throws {
    let console = try Console()
    let path = console.access.makeLink(for: "alice")
    // What only looks uses nothing up: a preview in a chat, a browser that fetches ahead.
    for _ in 0..<3 {
      #expect(try console.get(path) == .page(.ok, .button(path: path, user: "alice")))
    }
    let verdict = try console.post(path, ["Origin: http://localhost:8444"])
    guard case .signedIn(let cookie) = verdict else { throw Console.NotSignedIn(verdict: verdict) }
    #expect(cookie.hasPrefix("portcullis-8444="))
    #expect(cookie.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"))
    #expect(
      try console.post(path, ["Origin: http://localhost:8444"]) == .page(.forbidden, .linkEnded))
    #expect(try console.get(path) == .page(.forbidden, .linkEnded))
    #expect(try console.signIn().actor.user == 1000)
    #expect(console.events.all.prefix(2) == [.linkMade(user: "alice"), .signedIn(user: "alice", session: 1)])
  }

  @Test func aLinkIsGoodForAMinute() throws {
    let console = try Console()
    let path = console.access.makeLink(for: "alice")
    console.clock.advance(.milliseconds(59_999))
    #expect(try console.get(path) == .page(.ok, .button(path: path, user: "alice")))
    #expect(console.access.list().links.count == 1)
    console.clock.advance(.milliseconds(1))
    #expect(try console.get(path) == .page(.forbidden, .linkEnded))
    #expect(
      try console.post(path, ["Origin: http://localhost:8444"]) == .page(.forbidden, .linkEnded))
    #expect(console.access.list().links.isEmpty)
  }

  @Test(arguments: [
    "", "/", "x", "../", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
    String(repeating: "A", count: 4000),
  ])
  func aGuessIsALinkThatEnded(code: String) throws {
    let console = try Console()
    let real = console.access.makeLink(for: "alice")
    #expect(
      try console.post("/sign-in/\(code)", ["Origin: http://localhost:8444"])
        == .page(.forbidden, .linkEnded))
    #expect(try console.get(real) == .page(.ok, .button(path: real, user: "alice")))
  }

  /// A site that has a link of its own must not sign its visitors in by it.
  @Test(arguments: [
    [], ["Origin: https://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"],
    ["Origin: http://localhost:8444", "Sec-Fetch-Site: same-site"],
  ])
  func anotherSiteSignsNobodyIn(fields: [String]) throws {
    let console = try Console()
    let path = console.access.makeLink(for: "alice")
    #expect(try console.post(path, fields) == .refused(.origin))
    // And uses nothing up by trying.
    #expect(try console.get(path) == .page(.ok, .button(path: path, user: "alice")))
  }

  @Test func linksAreBounded() throws {
    let console = try Console()
    let first = console.access.makeLink(for: "alice")
    for _ in 0..<SignInLinks.limitPerUser { _ = console.access.makeLink(for: "alice") }
    #expect(try console.get(first) == .page(.forbidden, .linkEnded))
    #expect(console.access.list().links.count == SignInLinks.limitPerUser)
    for number in 0..<SignInLinks.limit { _ = console.access.makeLink(for: "user-\(number)") }
    #expect(console.access.list().links.count == SignInLinks.limit)
  }

  @Test func underTLSTheCookieIsOfThisHostAlone() throws {
    let console = try Console()
    let path = console.access.makeLink(for: "alice")
    let verdict = try console.post(
      path, ["Origin: https://gate.example.org:8444"], host: "gate.example.org:8444", over: .tls)
    guard case .signedIn(let cookie) = verdict else { throw Console.NotSignedIn(verdict: verdict) }
    #expect(cookie.hasPrefix("__Host-portcullis="))
    #expect(cookie.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"))
    let value = "Cookie: \(cookie.prefix { $0 != ";" })"
    #expect(try console.get("/", value, host: "gate.example.org:8444", over: .tls).actorName == "alice")
    // Without TLS nobody reads the one of TLS.
    #expect(try console.get("/", value, host: "gate.example.org:8444") == .nobody)
  }

  @Test func aSessionEndsAfterHalfAnHourWithoutUseAndAfterTwelveHours() throws {
    let console = try Console()
    let browser = try console.signIn()
    for _ in 0..<23 {
      console.clock.advance(.seconds(30 * 60 - 1))
      #expect(try console.get("/", browser.cookieField).actorName == "alice")
    }
    console.clock.advance(.seconds(30 * 60))
    #expect(try console.get("/", browser.cookieField) == .nobody)

    let other = try console.signIn("bob")
    for _ in 0..<24 {
      #expect(try console.get("/", other.cookieField).actorName == "bob")
      console.clock.advance(.seconds(1799))
    }
    console.clock.advance(.seconds(24))
    #expect(try console.get("/", other.cookieField) == .nobody)
    #expect(console.access.list().sessions.isEmpty)
  }

  /// A page that is left open fetches its numbers again and again.
  @Test func anOpenTabIsNobodyAtWork() throws {
    let console = try Console()
    let browser = try console.signIn()
    for _ in 0..<30 {
      #expect(try console.get("/api/overview", browser.cookieField).actorName == "alice")
      console.clock.advance(.seconds(60))
    }
    #expect(try console.get("/api/overview", browser.cookieField) == .nobody)
    #expect(try console.get("/", browser.cookieField) == .nobody)
  }

  @Test func sessionsAreBounded() throws {
    let console = try Console()
    let first = try console.signIn()
    let second = try console.signIn()
    for _ in 2..<AdminSessions.limitPerUser {
      console.clock.advance(.seconds(1))
      _ = try console.signIn()
    }
    console.clock.advance(.seconds(1))
    #expect(try console.get("/", first.cookieField).actorName == "alice")
    _ = try console.signIn()
    // The one that was used least recently has made room.
    #expect(try console.get("/", first.cookieField).actorName == "alice")
    #expect(try console.get("/", second.cookieField) == .nobody)
    #expect(console.access.list().sessions.count == AdminSessions.limitPerUser)
  }

  @Test func signingInAgainEndsWhatTheBrowserHadBefore() throws {
    let console = try Console()
    let former = try console.signIn("bob")
    let path = console.access.makeLink(for: "alice")
    _ = try console.post(path, [former.cookieField, "Origin: http://localhost:8444"])
    #expect(try console.get("/", former.cookieField) == .nobody)
    #expect(console.access.list().sessions.map(\.user) == ["alice"])
  }

  @Test func signingOutNeedsThePage() throws {
    let console = try Console()
    let browser = try console.signIn()
    #expect(try console.post("/sign-out", [browser.cookieField]) == .refused(.origin))
    #expect(try console.post("/sign-out", browser.change) == .refused(.formToken))
    #expect(try console.get("/", browser.cookieField).actorName == "alice")
    let verdict = try console.post("/sign-out", browser.change, token: browser.formToken)
    #expect(
      verdict
        == .signedOut(cookie: "portcullis-8444=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"))
    #expect(try console.get("/", browser.cookieField) == .nobody)
    #expect(try console.get("/sign-in?signed-out") == .page(.ok, .signedOut))
    #expect(try console.get("/sign-in") == .page(.ok, .howTo))
    // Whoever is signed out already has what he wanted.
    #expect(try console.post("/sign-out", browser.change) == .signedOut(cookie: nil))
  }

  @Test func whoIsNoOperatorAnyMoreIsOut() throws {
    let console = try Console()
    let (alice, bob) = (try console.signIn("alice"), try console.signIn("bob"))
    let path = console.access.makeLink(for: "bob")
    console.access.reload(
      AdminAccess.Settings(hosts: HostRule(), users: ["root": 0, "alice": 1000], metricsNeedToken: false))
    #expect(try console.get("/", alice.cookieField).actorName == "alice")
    #expect(try console.get("/", bob.cookieField) == .nobody)
    #expect(try console.get(path) == .page(.forbidden, .linkEnded))
    #expect(!console.access.holds(bob.actor) && console.access.holds(alice.actor))
  }
}
