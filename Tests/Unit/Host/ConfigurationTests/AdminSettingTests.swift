import Addresses
import Testing

@testable import Configuration

/// The settings of the admin listener: what they read, whose place it may not take, and who reaches it how.
@Suite struct AdminSettingTests {
  static let on = smallest + [("ADMIN_LISTEN", "127.0.0.1:8444")]
  static let certificate = [("TLS_CERT_PATH", "cert.pem"), ("TLS_KEY_PATH", "key.pem")]

  @Test func thereIsNoneByDefault() throws {
    let admin = try load().configuration.admin
    #expect(!admin.isOn && admin.listen == nil && admin.readyNeeds == .nothing && !admin.metricsNeedToken)
    #expect(admin.tokensPath == "config/admin-tokens.json")
    // A file may state every default.
    #expect(try load(file: "ADMIN_LISTEN=off\nREADY_NEEDS=nothing\n").configuration.admin == admin)
  }

  @Test func allOfThem() throws {
    let admin = try load(
      adding: [
        ("ADMIN_LISTEN", "unix:config/admin.sock"), ("ADMIN_SOCKET_GROUP", "adm"),
        ("ADMIN_METRICS_TOKEN", "true"), ("ADMIN_OPERATORS", "alice, 1001"),
        ("ADMIN_HOSTS", "Gate.Example, gate"), ("READY_NEEDS", "game"), ("ADMIN_TOKENS_PATH", "/tokens.json"),
      ]
    ).configuration.admin
    #expect(admin.listen == .unix(path: "config/admin.sock") && admin.socketGroup == "adm")
    #expect(admin.metricsNeedToken && admin.operators == ["alice", "1001"])
    #expect(admin.hosts == ["gate.example", "gate"] && admin.readyNeeds == .game)
    #expect(admin.tokensPath == "/tokens.json")
  }

  @Test func whoReachesIt() throws {
    for (text, isExposed) in [
      ("127.0.0.1:8444", false), ("127.9.9.9:0", false), ("[::1]:8444", false), ("unix:config/a", false),
      ("0.0.0.0:8444", true), ("[::]:8444", true), ("192.0.2.7:8444", true), ("[2001:db8::1]:8444", true),
    ] {
      let address = try #require(
        try load(adding: Self.certificate + [("ADMIN_LISTEN", text)]).configuration.admin.listen)
      #expect(address.isExposed == isExposed && address.description == text)
      let found = problems(adding: [("ADMIN_LISTEN", text)])
      #expect(found.map(\.name) == (isExposed ? ["ADMIN_LISTEN"] : []), "\(text)")
    }
  }

  static let wrong: [(String, [String])] = [
    (
      "ADMIN_LISTEN",
      [
        "on", "8444", "localhost:8444", "127.0.0.1", "::1:8444", "127.0.0.1:65536", "[::ffff:127.0.0.1]:8444",
        "224.0.0.1:8444", "unix:", "unix:" + String(repeating: "a", count: 108), "127.0.0.1:1,127.0.0.1:2",
        "",
      ]
    ),
    ("ADMIN_SOCKET_GROUP", ["a b", "a:b"]), ("ADMIN_METRICS_TOKEN", ["yes"]),
    ("ADMIN_OPERATORS", ["a,,b", "a b"]),
    ("ADMIN_HOSTS", ["a:1", "http://a", "192.0.2.7", "[::1]", "a/b", "-a", "a,A", "*"]),
    ("READY_NEEDS", ["backend", "Game"]), ("ADMIN_TOKENS_PATH", ["a\0b"]),
  ]

  @Test(arguments: wrong)
  func whatIsNoValue(name: String, texts: [String]) {
    let socket = smallest + [("ADMIN_LISTEN", "unix:config/admin.sock")]
    for text in texts { #expect(problems(socket, adding: [(name, text)]).map(\.name) == [name], "\(text)") }
  }

  /// Nothing of it is set where it is off, as nothing would come of it.
  @Test func notWithoutTheListener() {
    for (name, text) in [
      ("ADMIN_SOCKET_GROUP", "adm"), ("ADMIN_OPERATORS", "alice"), ("ADMIN_HOSTS", "gate"),
      ("ADMIN_TOKENS_PATH", "/tokens.json"),
    ] {
      #expect(problems(adding: [(name, text)]).map(\.reason) == ["is set without ADMIN_LISTEN"])
    }
    #expect(problems(Self.on, adding: [("ADMIN_SOCKET_GROUP", "adm")]).map(\.name) == ["ADMIN_SOCKET_GROUP"])
    // Operators reach the control socket by it.
    let operators = [("ADMIN_SOCKET_GROUP", "adm"), ("ADMIN_OPERATORS", "alice")]
    #expect(problems(Self.on, adding: operators).isEmpty)
  }

  @Test func placesThatAreTaken() {
    for (listen, admin, isTaken) in [
      ("127.0.0.1:8443", "127.0.0.1:8443", true), ("0.0.0.0:8443", "127.0.0.1:8443", true),
      ("[::]:8443", "[::1]:8443", true), ("[::]:8443", "127.0.0.1:8443", false),
      ("127.0.0.2:8443", "127.0.0.1:8443", false), ("127.0.0.1:8443", "0.0.0.0:8443", true),
      ("127.0.0.1:0", "127.0.0.1:0", false),
    ] {
      let found = problems(adding: Self.certificate + [("LISTEN", listen), ("ADMIN_LISTEN", admin)])
      #expect(found.map(\.name) == (isTaken ? ["ADMIN_LISTEN"] : []), "\(listen) \(admin)")
    }
    for adding in [
      [("ADMIN_LISTEN", "unix:config/portcullis.sock")],
      [("ADMIN_LISTEN", "unix:config/game"), ("BACKEND", "unix:config/game")],
    ] {
      #expect(problems(adding: adding).map(\.reason.count) != [] && problems(adding: adding).count == 1)
    }
    #expect(
      problems(
        DeviceSettingTests.on,
        adding: [("APPROVALS_SOCKET", "config/a.sock"), ("ADMIN_LISTEN", "unix:config/a.sock")]
      ).map(\.reason) == ["is the socket of APPROVALS_SOCKET"])
    #expect(
      problems(Self.on, adding: [("ADMIN_TOKENS_PATH", "config/attested-keys.json")]).map(\.name)
        == ["ADMIN_TOKENS_PATH"])
  }

  @Test func filesOfIt() {
    #expect(problems(adding: [("ADMIN_LISTEN", "unix:no/a.sock")]).map(\.name) == ["ADMIN_LISTEN"])
    #expect(
      problems(Self.on, adding: [("ADMIN_TOKENS_PATH", "no/tokens.json")]).map(\.name) == [
        "ADMIN_TOKENS_PATH"
      ])
    var files = ImaginaryFiles.complete
    files.kinds["config/admin-tokens.json"] = .file
    #expect(problems(Self.on, files: files).isEmpty)
    files.othersToWrite = ["config/admin-tokens.json"]
    #expect(problems(Self.on, files: files).map(\.name) == ["ADMIN_TOKENS_PATH"])
    #expect(problems(files: files).isEmpty)
  }

  @Test func whatAReloadTakesOver() throws {
    let old = try load(Self.on).configuration
    let new = try load(
      adding: [
        ("ADMIN_LISTEN", "unix:config/a"), ("ADMIN_SOCKET_GROUP", "adm"), ("ADMIN_TOKENS_PATH", "/t"),
        ("ADMIN_METRICS_TOKEN", "true"), ("ADMIN_OPERATORS", "alice"), ("ADMIN_HOSTS", "gate"),
        ("READY_NEEDS", "game"),
      ]
    ).configuration
    let differences = old.reloadDifferences(to: new)
    #expect(differences.needRestart == ["ADMIN_LISTEN", "ADMIN_TOKENS_PATH", "ADMIN_SOCKET_GROUP"])
    #expect(
      differences.applicable == ["ADMIN_METRICS_TOKEN", "ADMIN_OPERATORS", "ADMIN_HOSTS", "READY_NEEDS"])
    #expect(old.reloading(from: new).admin.tokensPath == "config/admin-tokens.json")
  }
}
