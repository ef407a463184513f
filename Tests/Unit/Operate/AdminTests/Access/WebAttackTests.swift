import Testing

@testable import Admin

/// What another site, another port and another name can make a browser send.
@Suite struct WebAttackTests {
  @Test(arguments: [
    "localhost", "LOCALHOST:8444", "localhost.", "127.0.0.1", "127.0.0.1:8444", "192.0.2.7:1", "[::1]",
    "[::1]:8444",
    "[2001:db8::1]:65535", "gate.example.org", "Gate.Example.ORG:9", "gate.example.org.:9", "a.games.example",
  ])
  func namesOfOurs(host: String) throws {
    #expect(try Console().get("/", host: host) == .nobody)
    #expect(try Console().get("/metrics", host: host) == .anybody)
  }

  /// DNS rebinding: the name is the attacker's, the address ours. Other notations of addresses are names.
  @Test(arguments: [
    "evil.example", "localhost.evil.example", "gate.example.org.evil.example", "xgate.example.org",
    "sub.gate.example.org", "games.example", "a.b.games.example", ".games.example", "127.0.0.1.evil.example",
    "127.1",
    "2130706433", "0x7f.0.0.1", "local%68ost", "localhost:8444:1", "127.0.0.1.", "localhost..",
  ])
  func namesOfOthers(host: String) throws {
    let console = try Console()
    let browser = try console.signIn()
    let rule = HostRule(names: ["gate.example.org", "*.games.example"])
    #expect(!rule.permits(host))
    // Where the head is one at all.
    guard let verdict = try? console.get("/", browser.cookieField, host: host) else { return }
    #expect(verdict == .refused(.host))
    #expect(try console.get("/metrics", host: host) == .refused(.host))
    #expect(try console.get("/sign-in", host: host) == .refused(.host))
    #expect(try console.get("/style.css", host: host) == .refused(.host))
    #expect(try console.get("/livez", host: host) == .anybody)
    #expect(try console.get("/readyz", host: host) == .anybody)
  }

  @Test func withoutAHost() throws {
    let head = try Console.head("GET / HTTP/1.0")
    #expect(try Console().access.judgement(head, nil, over: .loopback) == .refused(.host))
  }

  /// The target's own authority counts before the field (RFC 9112 §3.2.2).
  @Test func anAbsoluteTargetIsTheHost() throws {
    let console = try Console()
    #expect(try console.get("http://evil.example/metrics") == .refused(.host))
    #expect(try console.get("http://localhost/metrics", host: "evil.example") == .anybody)
  }

  @Test(arguments: [
    // As Chromium, Firefox and Safari send them, also under Referrer-Policy: no-referrer.
    ["Origin: http://localhost:8444", "Sec-Fetch-Site: same-origin"], ["Origin: http://localhost:8444"],
    ["Origin: null", "Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: same-origin"],
    // Something before us has TLS.
    ["Origin: https://localhost:8444"],
  ])
  func aChangeOfAPageOfOurs(fields: [String]) throws {
    let console = try Console()
    let browser = try console.signIn()
    let verdict = try console.post(
      "/drain", [browser.cookieField] + fields, token: browser.formToken)
    #expect(verdict == .actor(browser.actor, formToken: browser.formToken))
  }

  @Test(arguments: [
    [], ["Origin: null"], ["Origin: http://evil.example"], ["Origin: http://localhost:8445"],
    ["Origin: http://localhost"], ["Origin: http://localhost:8444.evil.example"],
    ["Origin: http://localhost:8444/"], ["Origin: http://evil.example@localhost:8444"],
    ["Origin: localhost:8444"], ["Origin: ftp://localhost:8444"], ["Origin:"],
    ["Origin: http://localhost:8444 http://evil.example"],
    ["Origin: http://localhost:8444", "Sec-Fetch-Site: cross-site"],
    ["Origin: http://localhost:8444", "Sec-Fetch-Site: same-site"],
    ["Origin: http://localhost:8444", "Sec-Fetch-Site: none"],
    ["Origin: null", "Sec-Fetch-Site: cross-site"],
    ["Origin: http://evil.example", "Sec-Fetch-Site: same-origin"],
    ["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: none"], ["Sec-Fetch-Site: Same-Origin"],
    ["Referer: http://localhost:8444/"],
  ])
  func aChangeOfAnotherSite(fields: [String]) throws {
    let console = try Console()
    let browser = try console.signIn()
    let verdict = try console.post(
      "/drain", [browser.cookieField] + fields, token: browser.formToken)
    #expect(verdict == .refused(.origin))
  }

  @Test func underTLSAPlainPageIsAnotherSite() throws {
    let console = try Console()
    let path = console.access.makeLink(for: "alice")
    let host = "gate.example.org"
    #expect(
      try console.post(path, ["Origin: http://gate.example.org"], host: host, over: .tls) == .refused(.origin)
    )
    for origin in ["https://gate.example.org", "https://gate.example.org:443"] {
      let path = console.access.makeLink(for: "alice")
      let verdict = try console.post(path, ["Origin: \(origin)"], host: host, over: .tls)
      guard case .signedIn = verdict else { throw Console.NotSignedIn(verdict: verdict) }
    }
  }

  @Test func theFormTokenIsOfThisSession() throws {
    let console = try Console()
    let (alice, bob) = (try console.signIn("alice"), try console.signIn("bob"))
    for token in [nil, "", "x", bob.formToken, alice.formToken + "A", String(alice.formToken.dropLast())] {
      #expect(try console.post("/drain", alice.change, token: token) == .refused(.formToken))
    }
    #expect(try console.post("/drain", alice.change, token: alice.formToken).actorName == "alice")
    // In the query it would be in logs and histories.
    #expect(try console.post("/drain?token=\(alice.formToken)", alice.change) == .refused(.formToken))
  }

  @Test func anyMethodThatIsNoLookIsAChange() throws {
    let console = try Console()
    let browser = try console.signIn()
    for method in ["POST", "DELETE", "PUT", "PATCH", "QUERY"] {
      let head = try Console.head(
        "\(method) /drain HTTP/1.1", "Host: localhost:8444", browser.cookieField, "Content-Length: 0")
      #expect(console.access.judgement(head, nil, over: .loopback) == .refused(.origin))
    }
  }

  @Test func cookiesOfOthers() throws {
    let console = try Console()
    let browser = try console.signIn()
    let value = browser.cookie.dropFirst("portcullis-8444=".count)
    // Another console of this host, and names that only look alike.
    for name in ["portcullis-8445", "portcullis", "Portcullis-8444", "xportcullis-8444", "__Host-portcullis"]
    {
      #expect(try console.get("/", "Cookie: \(name)=\(value)") == .nobody)
    }
    #expect(try console.get("/", browser.cookieField, host: "localhost:8445") == .nobody)
    #expect(try console.get("/", "Cookie: a=b; \(browser.cookie);c=d").actorName == "alice")
    // One of the two was put there by somebody else.
    #expect(try console.get("/", "Cookie: \(browser.cookie); portcullis-8444=x") == .nobody)
    for wrong in ["", "x", "\(value)A", "\"\(value)\"", String(value.reversed())] {
      #expect(try console.get("/", "Cookie: portcullis-8444=\(wrong)") == .nobody)
    }
  }

  @Test func pathsInDisguiseAreTheConsole() throws {
    let console = try Console(metricsNeedToken: true)
    for path in [
      "/livez/", "/livez/../", "/%6civez", "//livez", "/LIVEZ", "/style.css/", "/sign-in;x", "/sign-in%2f",
      "/metrics/",
      "/", "/sessions", "/api/overview", "/sign-inx", "/sign-outx",
    ] {
      #expect(try console.get(path) == .nobody)
    }
  }
}
