import Charsets
import Testing

@testable import Configuration

/// What settings mean together (docs/settings.md, "Production"), and what the machine adds.
@Suite struct CombinationTests {
  @Test(
    arguments: [
      ([("NODE_ENV", "production")], true), ([("PORTCULLIS_ENV", "production")], true),
      ([("NODE_ENV", "PRODUCTION")], true),
      ([("PORTCULLIS_ENV", "Production")], true), ([("NODE_ENV", " production ")], true),
      ([("NODE_ENV", "production"), ("PORTCULLIS_ENV", "development")], true),
      ([("NODE_ENV", "development"), ("PORTCULLIS_ENV", "production")], true),
      ([("NODE_ENV", "prod")], false),
      ([("NODE_ENV", "test"), ("PORTCULLIS_ENV", "staging")], false),
    ] as [([(String, String)], Bool)])
  func whatIsProduction(environment: [(String, String)], expected: Bool) throws {
    let others = production.filter { $0.0 != "PORTCULLIS_ENV" }
    let configuration = try load(others, adding: environment).configuration
    #expect(configuration.isProduction == expected)
    #expect(!configuration.isEnvironmentUnset)
  }

  @Test(arguments: ["development", "Development", "test", "staging"]) func usualNamesAreNotWarnedOf(
    name: String
  ) throws {
    #expect(try load(adding: [("PORTCULLIS_ENV", name)]).warnings.isEmpty)
  }

  @Test func anUnusualEnvironmentIsWarnedOf() throws {
    let warnings = try load([smallest[0]], adding: [("NODE_ENV", "prod")]).warnings
    #expect(warnings == [.unknownEnvironment(name: "NODE_ENV", shownValue: "prod")])
    let both = try load(production, adding: [("NODE_ENV", "live")])
    #expect(both.warnings.isEmpty && both.configuration.isProduction)
  }

  /// A slip would relax everything. Beside production as well: what it was to say is not known.
  @Test(arguments: ["prod", "live", "Produktion", "production,test", "production\u{A0}", "false"])
  func anUnknownEnvironmentOfTheGateIsRefused(name: String) {
    for others in [[], [("NODE_ENV", "production")]] {
      let found = problems([smallest[0]], adding: [("PORTCULLIS_ENV", name)] + others)
        .filter { $0.name == "PORTCULLIS_ENV" }
      #expect(found.map(\.remedy) == ["write production, development, test or staging"])
      #expect(found.first?.place == "environment" && found.first?.shownValue != nil)
    }
  }

  @Test func withoutAnEnvironmentEverythingRelaxedIsListed() throws {
    let ids = [("APPATTEST_APP_IDS", "ABCDE12345.a")]
    let warnings = try load(ids).warnings
    #expect(warnings.map(\.code) == ["environment_unset"])
    let text = warnings.first?.description ?? ""
    for name in [
      "ALLOW_MTLS_FALLBACK", "REQUIRE_APP_AUTH", "BACKEND", "TLS_CERT_PATH", "APPATTEST_ROOT_CA_PATH",
    ] {
      #expect(text.contains(name))
    }
    #expect(text.contains("self-signed certificate stands in for TLS_CERT_PATH (in use)"))
    let open = try load([("REQUIRE_APP_AUTH", "false"), ("BACKEND", "echo:")])
    #expect(open.warnings.first?.description.contains("(false: everybody may come in)") == true)
    #expect(open.configuration.isEnvironmentUnset && !open.configuration.isProduction)
  }

  @Test func productionIgnoresTheFallback() throws {
    let loaded = try load(production, adding: [("ALLOW_MTLS_FALLBACK", "true")])
    #expect(loaded.warnings == [.fallbackIgnoredInProduction])
    #expect(!loaded.configuration.mtls.fallback)
    let row = loaded.settings.first { $0.name == "ALLOW_MTLS_FALLBACK" }
    #expect(row?.value == "false" && row?.note == "ignored in production" && row?.source == .environment)
    // Nor does it look for a file that it will not read.
    let adding = [("ALLOW_MTLS_FALLBACK", "true"), ("MTLS_CLIENT_CA_PATH", "missing.pem")]
    #expect(problems(production, adding: adding).isEmpty)
  }

  @Test(arguments: [
    ("REQUIRE_APP_AUTH", "false", "REQUIRE_APP_AUTH"), ("BACKEND", "echo:", "BACKEND"),
  ])
  func productionRefuses(name: String, text: String, reported: String) {
    #expect(problems(production, adding: [(name, text)]).map(\.name) == [reported])
    #expect(problems(adding: [(name, text)]).isEmpty)
  }

  @Test func productionNeedsACertificate() {
    let without = production.filter { !$0.0.hasPrefix("TLS_") }
    #expect(problems(without).map(\.name) == ["TLS_CERT_PATH", "TLS_KEY_PATH"])
  }

  @Test(arguments: ["TLS_CERT_PATH", "TLS_KEY_PATH"]) func certificateAndKeyComeTogether(name: String) {
    let path = name == "TLS_CERT_PATH" ? "cert.pem" : "key.pem"
    #expect(problems(adding: [(name, path)]).map(\.name) == [name])
    #expect(problems(production.filter { $0.0 != name }).count == 1)
  }

  @Test func certificateAndKey() throws {
    let files = try load(production).configuration.tls
    #expect(
      files == GateConfiguration.ServerCertificateFiles(certificatePath: "cert.pem", keyPath: "key.pem"))
  }

  @Test func appIDs() throws {
    let test = [("PORTCULLIS_ENV", "test")]
    let pair = [("APPATTEST_TEAM_ID", "ABCDE12345"), ("APPATTEST_BUNDLE_ID", "com.example.mud")]
    #expect(try load(test + pair).configuration.attest.appIDs == load().configuration.attest.appIDs)
    #expect(problems(test).map(\.name) == ["APPATTEST_APP_IDS"])
    #expect(problems(test + pair.prefix(1)).map(\.name) == ["APPATTEST_TEAM_ID"])
    #expect(problems(test + pair.suffix(1)).map(\.name) == ["APPATTEST_BUNDLE_ID"])
    #expect(problems(adding: pair).map(\.name) == ["APPATTEST_TEAM_ID", "APPATTEST_BUNDLE_ID"])
    #expect(try load(test + [("REQUIRE_APP_AUTH", "false")]).configuration.attest.appIDs.isEmpty)
    #expect(problems(test + pair.prefix(1) + [("REQUIRE_APP_AUTH", "false")]).count == 1)
    // A malformed list is one problem, not two.
    #expect(problems(test + [("APPATTEST_APP_IDS", "x")]).map(\.name) == ["APPATTEST_APP_IDS"])
  }

  @Test func fallbackNeedsAnAuthority() throws {
    let on = [("ALLOW_MTLS_FALLBACK", "true")]
    #expect(problems(adding: on).map(\.name) == ["ALLOW_MTLS_FALLBACK"])
    let loaded = try load(adding: on + [("MTLS_CLIENT_CA_PATH", "ca.pem")])
    #expect(
      loaded.configuration.mtls
        == GateConfiguration.ClientCertificates(fallback: true, clientCAPath: "ca.pem"))
  }

  @Test func proxyProtocolNeedsProxies() throws {
    let on = [("LISTEN_PROXY_PROTOCOL", "true")]
    #expect(problems(adding: on).map(\.name) == ["LISTEN_PROXY_PROTOCOL"])
    let loaded = try load(adding: on + [("TRUSTED_PROXIES", "10.0.0.0/8")])
    #expect(loaded.configuration.proxies.requiresProxyProtocol)
  }

  @Test(arguments: [
    ("30s", "30s", false), ("30s", "30001ms", true), ("31s", "30s", false), ("29s", "30", true),
  ])
  func pongAfterPing(interval: String, timeout: String, isGood: Bool) {
    let found = problems(adding: [("PING_INTERVAL", interval), ("PONG_TIMEOUT", timeout)])
    #expect(found.map(\.name) == (isGood ? [] : ["PONG_TIMEOUT"]))
  }

  @Test func messagesShorterThanFramesAreWarnedOf() throws {
    let warnings = try load(adding: [("WS_MAX_MESSAGE_BYTES", "65535")]).warnings
    #expect(warnings == [.messageSmallerThanFrame(messageBytes: 65_535, frameBytes: 65_536)])
    #expect(try load(adding: [("WS_MAX_MESSAGE_BYTES", "65536")]).warnings.isEmpty)
  }

  @Test(
    arguments: [
      (50_256, nil, 20_000, false), (50_255, nil, 19_999, true), (40_256, nil, 15_000, true),
      (1024, nil, 288, true), (256, nil, 1, true),
      (0, nil, 1, true), (1024, "288", 288, false), (1024, "289", 288, true),
      (1_000_000, "30000", 30_000, false),
    ] as [(Int, String?, Int, Bool)])
  func connectionsFitTheDescriptors(limit: Int, text: String?, expected: Int, isWarned: Bool) throws {
    let adding = text.map { [("MAX_CONNECTIONS", $0)] } ?? []
    let loaded = try load(adding: adding, descriptors: limit)
    #expect(loaded.configuration.limits.connections == expected)
    #expect(loaded.warnings.map(\.code) == (isWarned ? ["connections_reduced"] : []))
  }

  /// A quarter at most goes to sessions without a connection, and nothing where there can be none.
  @Test(
    arguments: [
      (65_536, [], 10_000, 20_000), (40_256, [], 10_000, 15_000), (40_255, [], 9999, 15_000),
      (1024, [], 192, 288),
      (1024, [("MAX_DETACHED", "100")], 100, 334), (1024, [("SESSION_RESUME_FOR", "0")], 0, 384),
      (1024, [("SUBPROTOCOLS", "none,json.mudstandards.org")], 0, 384),
      (1024, [("SUBPROTOCOLS", "portcullis.v1")], 192, 288), (260, [], 1, 1),
    ] as [(Int, [(String, String)], Int, Int)])
  func detachedSessionsHaveTheirShare(
    limit: Int, adding: [(String, String)], detached: Int, connections: Int
  ) throws {
    let limits = try load(adding: adding, descriptors: limit).configuration.limits
    #expect(limits.detached == detached && limits.connections == connections)
  }

  @Test func detachedSessionsThatWereAskedForAreWarnedOf() throws {
    let connections = ("MAX_CONNECTIONS", "100")
    #expect(try load(adding: [connections], descriptors: 1024).warnings.isEmpty)
    let loaded = try load(adding: [connections, ("MAX_DETACHED", "193")], descriptors: 1024)
    #expect(
      loaded.warnings == [.detachedReduced(from: 193, to: 192, descriptorLimit: 1024, needed: 256 + 4 * 193)])
    let enough = try load(adding: [connections, ("MAX_DETACHED", "193")], descriptors: 256 + 4 * 193)
    #expect(enough.warnings.isEmpty && enough.configuration.limits.detached == 193)
  }

  @Test func theRemedyOfTheWarningSuffices() throws {
    let wanted = [("MAX_CONNECTIONS", "1000"), ("MAX_DETACHED", "5000")]
    let warnings = try load(adding: wanted, descriptors: 1024).warnings
    #expect(warnings.first?.description.hasSuffix("to 20256") == true)
    let limits = try load(adding: wanted, descriptors: 20_256).configuration.limits
    #expect(limits.connections == 1000 && limits.detached == 5000)
  }

  @Test func aReloadOfTheTimeCountsDescriptorsAnew() throws {
    let old = try load(descriptors: 1024).configuration
    let new = try load(
      adding: [("SESSION_RESUME_FOR", "0"), ("SUBPROTOCOLS", "none")], descriptors: 1024
    ).configuration
    #expect(old.reloading(from: new).limits.connections == 384)
    // What needs a restart has no part in it.
    let raw = try load(adding: [("SUBPROTOCOLS", "none")], descriptors: 1024).configuration
    #expect(raw.limits.connections == 384 && old.reloading(from: raw).limits.connections == 288)
    #expect(old.reloadDifferences(to: new).needRestart == ["SUBPROTOCOLS"])
    #expect(old.reloadDifferences(to: new).applicable == ["SESSION_RESUME_FOR"])
  }

  @Test(arguments: [("64KiB", "65536", true), ("65KiB", "65536", false)]) func buffersHoldOneAtLeast(
    one: String, all: String, isGood: Bool
  ) {
    let found = problems(adding: [("SESSION_BUFFER", one), ("SESSION_BUFFERS_TOTAL", all)])
    #expect(found.map(\.name) == (isGood ? [] : ["SESSION_BUFFERS_TOTAL"]))
  }

  @Test(arguments: [
    ("keys.json", "device-pseudonym.key"), ("config/k", "config/device-pseudonym.key"),
    ("/receipts/k", "/receipts/device-pseudonym.key"), ("/k", "/device-pseudonym.key"),
  ])
  func thePseudonymKeyLiesBesideTheStore(store: String, expected: String) throws {
    let loaded = try load(adding: [("ATTESTED_KEYS_PATH", store)])
    #expect(loaded.configuration.store.pseudonymKeyPath == expected)
  }

  @Test(
    arguments: [
      ("none,binary,telnet.mudstandards.org", false), ("none", false), ("portcullis.v1", true),
      ("none,terminal.mudstandards.org", true),
    ])
  func whetherTelnetIsSpoken(subprotocols: String, expected: Bool) throws {
    let loaded = try load(adding: [("SUBPROTOCOLS", subprotocols)])
    #expect(loaded.configuration.sessions.haveTelnet == expected)
  }

  @Test(arguments: [(0, 1), (1, 1), (256, 256), (257, 256)]) func workers(processors: Int, expected: Int)
    throws
  {
    #expect(try load(processors: processors).configuration.workers == expected)
  }

  @Test(arguments: [
    ("TLS_CERT_PATH", "missing.pem", "does not exist"), ("TLS_KEY_PATH", "missing.pem", "does not exist"),
    ("TLS_KEY_PATH", "config", "does not name a file"), ("TLS_KEY_PATH", "/dev/null", "does not name a file"),
    ("APPATTEST_ROOT_CA_PATH", "missing.pem", "does not exist"),
    ("RECEIPTS_PATH", "/missing", "does not exist"),
    ("RECEIPTS_PATH", "cert.pem", "does not name a directory"),
    ("ATTESTED_KEYS_PATH", "no/keys.json", "does not exist"),
    ("ATTESTED_KEYS_PATH", "config", "names a directory"),
    ("ATTESTED_KEYS_PATH", "cert.pem/x", "no directory"),
    ("CONTROL_SOCKET", "no/gate.sock", "does not exist"),
    ("DEVICE_PSEUDONYM_KEY_PATH", "no/secret.key", "does not exist"),
    ("DEVICE_PSEUDONYM_KEY_PATH", "config", "does not name a file"),
    ("DEVICE_PSEUDONYM_KEY_PATH", "/dev/null", "does not name a file"),
  ])
  func filesMustBeThere(name: String, path: String, reason: String) {
    let found = problems(production, adding: [(name, path)])
    #expect(found.map(\.name) == [name])
    #expect(found.first?.reason.contains(reason) == true)
  }

  @Test func filesMustBeOpenToTheGate() {
    var files = ImaginaryFiles.complete
    files.unreadable = ["key.pem", "ca.pem", "root.pem"]
    files.unwritable = ["config", "/receipts"]
    let adding = [
      ("APPATTEST_ROOT_CA_PATH", "root.pem"), ("RECEIPTS_PATH", "/receipts"), ("ALLOW_MTLS_FALLBACK", "true"),
      ("MTLS_CLIENT_CA_PATH", "ca.pem"), ("PORTCULLIS_ENV", "test"),
    ]
    let names = problems(production, adding: adding, files: files).map(\.name)
    #expect(
      names == [
        "TLS_KEY_PATH", "MTLS_CLIENT_CA_PATH", "APPATTEST_ROOT_CA_PATH", "RECEIPTS_PATH",
        "ATTESTED_KEYS_PATH",
        "CONTROL_SOCKET",
      ])
  }

  /// The C library may have been installed without its modules.
  @Test func theCharsetMustBeThere() {
    var files = ImaginaryFiles.complete
    files.missingCharsets = [.gbk]
    let gbk = ("GAME_CHARSET", "gbk")
    let found = problems(adding: [gbk], files: files)
    #expect(found.map(\.name) == ["GAME_CHARSET"] && found.first?.reason.contains("no module") == true)
    #expect(problems(adding: [("GAME_CHARSET", "Big5")], files: files).isEmpty)
    #expect(problems(adding: [gbk]).isEmpty)
    // Where no telnet is spoken it is not needed.
    #expect(problems(adding: [gbk, ("SUBPROTOCOLS", "none,binary")], files: files).isEmpty)
    #expect(problems(adding: [gbk], files: files, scope: .values).isEmpty)
  }

  /// One that is there is only read, and one that is not is made.
  @Test func thePseudonymKeysPlace() throws {
    var files = ImaginaryFiles.complete
    files.kinds["/secrets"] = .directory
    files.kinds["/secrets/pseudonym"] = .file
    files.unwritable = ["/secrets"]
    let there = [("DEVICE_PSEUDONYM_KEY_PATH", "/secrets/pseudonym")]
    #expect(try load(adding: there, files: files).configuration.files.pseudonymKeyPath == there[0].1)
    #expect(problems(adding: [("DEVICE_PSEUDONYM_KEY_PATH", "/secrets/other")], files: files).count == 1)
    files.unreadable = ["/secrets/pseudonym"]
    #expect(problems(adding: there, files: files).map(\.name) == ["DEVICE_PSEUDONYM_KEY_PATH"])
    // What is beside the store is looked at with it.
    let beside = try load(adding: [("ATTESTED_KEYS_PATH", "./keys.json")]).configuration.files
    #expect(beside.pseudonymKeyPath == "./device-pseudonym.key")
  }

  /// Other files of a configuration that is wrong are looked at all the same.
  @Test(arguments: [
    ([("WORKERS", "x")], "config/device-pseudonym.key"), ([("ATTESTED_KEYS_PATH", "no/keys.json")], nil),
    ([("DEVICE_PSEUDONYM_KEY_PATH", "no/key")], nil),
    ([("ATTESTED_KEYS_PATH", "no/keys.json"), ("DEVICE_PSEUDONYM_KEY_PATH", "key.pem")], "key.pem"),
  ])
  func thePseudonymKeyOfWhatIsLeft(adding: [(String, String)], path: String?) throws {
    do {
      _ = try load(adding: adding + [("PING_INTERVAL", "x")])
      Issue.record("it loads")
    } catch {
      #expect(error.files.pseudonymKeyPath == path)
    }
  }

  @Test(arguments: [("a/b/c", "a/b"), ("a", "."), ("/a", "/"), ("/a/b", "/a"), ("./a", ".")])
  func parents(path: String, directory: String) {
    #expect(parent(of: path) == directory)
  }

  @Test func commandsOnTheStoreNeedValuesOnly() throws {
    let loaded = try load(
      [("ATTESTED_KEYS_PATH", "elsewhere/keys.json")], files: ImaginaryFiles(), scope: .values)
    #expect(loaded.configuration.store.path == "elsewhere/keys.json")
    #expect(problems([("PING_INTERVAL", "x")], scope: .values).map(\.name) == ["PING_INTERVAL"])
  }
}
