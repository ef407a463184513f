import Addresses
import Charsets
import Identity
import Testing

@testable import Configuration

/// Every setting of docs/settings.md: what it reads, what it refuses, and its limits.
@Suite struct SettingTests {
  struct Reading: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let holds: @Sendable (GateConfiguration) -> Bool
    var testDescription: String { "\(name)=\(text)" }

    init(_ name: String, _ text: String, _ holds: @escaping @Sendable (GateConfiguration) -> Bool) {
      self.name = name
      self.text = text
      self.holds = holds
    }
  }

  static let endpoints = [Endpoint(address: .loopbackV4, port: 1), Endpoint(address: .loopbackV6, port: 0)]

  static let values: [Reading] = [
    Reading("LISTEN", "127.0.0.1:1, [::1]:0") { $0.listen == endpoints },
    Reading("BACKEND", "mud.example:23") { $0.backend.target == .tcp(host: "mud.example", port: 23) },
    Reading("BACKEND", "unix:/run/mud.sock") { $0.backend.target == .unix(path: "/run/mud.sock") },
    Reading("BACKEND", "echo:") { $0.backend.target == .echo },
    Reading("BACKEND_PROXY_PROTOCOL", "off") { $0.backend.proxyProtocol == .off },
    Reading("BACKEND_PROXY_PROTOCOL", "v1") { $0.backend.proxyProtocol == .v1 },
    Reading("BACKEND_PROXY_PROTOCOL", "v2") { $0.backend.proxyProtocol == .v2 },
    Reading("WS_MESSAGE_TYPE", "text") { $0.messageType == .text },
    Reading("WS_MESSAGE_TYPE", "binary") { $0.messageType == .binary },
    Reading("WS_COMPRESSION", "off") { $0.compression == .off },
    Reading("WS_COMPRESSION", "on") { $0.compression == .on },
    Reading("WS_COMPRESSION", "deflate") { $0.compression == .on },
    Reading("WS_COMPRESSION_WINDOWS", "0") { $0.limits.compressionWindowsBytes == 0 },
    Reading("WS_COMPRESSION_WINDOWS", "65536MiB") { $0.limits.compressionWindowsBytes == 64 << 30 },
    Reading("REQUIRE_APP_AUTH", "false") { !$0.requiresAppAuth },
    Reading("REQUIRE_APP_AUTH", "true") { $0.requiresAppAuth },
    Reading("ALLOWED_ORIGINS", "https://a.example, null") {
      $0.origins.permits("null") && $0.origins.isRestricted
    },
    Reading("APPATTEST_APP_IDS", "ABCDE12345.a.b,ABCDE12345.c") {
      $0.attest.appIDs.map(\.description) == ["ABCDE12345.a.b", "ABCDE12345.c"]
    },
    Reading("APPATTEST_ENVIRONMENT", "production") { $0.attest.environments == [.production] },
    Reading("APPATTEST_ENVIRONMENT", "development") { $0.attest.environments == [.development] },
    Reading("APPATTEST_ENVIRONMENT", "both") { $0.attest.environments == [.production, .development] },
    Reading("APPATTEST_ROOT_CA_PATH", "root.pem") { $0.attest.rootPath == "root.pem" },
    Reading("APPATTEST_ALLOWED_CATEGORIES", "0, 4,4294967295") {
      $0.attest.allowedCategories == [0, 4, .max]
    },
    Reading("APPATTEST_ALLOWED_BUNDLE_VERSIONS", "1.0,2.0 beta") {
      $0.attest.allowedBundleVersions == ["1.0", "2.0 beta"]
    },
    Reading("APPATTEST_REQUIRE_LAUNCH_INFO", "true") { $0.attest.requiresLaunchInfo },
    Reading("RECEIPTS_PATH", "/receipts") { $0.attest.receiptsPath == "/receipts" },
    Reading("TRUSTED_PROXIES", "10.0.0.0/8, ::1") {
      $0.proxies.trusted.map(\.description) == ["10.0.0.0/8", "::1/128"]
    },
    Reading("WORKERS", "256") { $0.workers == 256 },
    Reading("LOG_LEVEL", "trace") { $0.log.level == .trace },
    Reading("LOG_LEVEL", "critical") { $0.log.level == .critical },
    Reading("LOG_FORMAT", "json") { $0.log.format == .json },
    Reading("ATTESTED_KEYS_PATH", "config/keys.json") { $0.store.path == "config/keys.json" },
    Reading("KEYSTORE_DURABILITY", "relaxed") { $0.store.durability == .relaxed },
    Reading("KEYSTORE_MAX_KEYS", "1") { $0.store.maximumKeys == 1 },
    Reading("CONTROL_SOCKET", "gate.sock") { $0.controlSocketPath == "gate.sock" },
    Reading("RUN_AS", "portcullis") { $0.runAs == GateConfiguration.RunAs(user: "portcullis", group: nil) },
    Reading("RUN_AS", "990:mud") { $0.runAs == GateConfiguration.RunAs(user: "990", group: "mud") },
    Reading("PORTCULLIS_SANDBOX", "false") { !$0.isSandboxed },
    Reading("TLS_HANDSHAKE_TIMEOUT", "1ms") { $0.limits.tlsHandshakeTimeout == .milliseconds(1) },
    Reading("HANDSHAKE_RATE", "30/s") {
      $0.limits.handshakeRate == Rate(count: 30, per: .seconds(1), burst: 600)
    },
    Reading("HANDSHAKE_RATE", "1/m") {
      $0.limits.handshakeRate == Rate(count: 1, per: .seconds(60), burst: 1)
    },
    Reading("HTTP_TIMEOUT", "2s") { $0.limits.httpHeadTimeout == .seconds(2) },
    Reading("HTTP_HEAD_TIMEOUT", "1500ms") { $0.limits.httpHeadTimeout == .milliseconds(1500) },
    Reading("HTTP_HEAD_MAX_BYTES", "1024") { $0.limits.httpHeadBytes == 1024 },
    Reading("HTTP_HEAD_MAX_BYTES", "1MiB") { $0.limits.httpHeadBytes == 1 << 20 },
    Reading("HTTP_BODY_TIMEOUT", "2m") { $0.limits.httpBodyTimeout == .seconds(120) },
    Reading("HTTP_BODY_MAX_BYTES", "16MiB") { $0.limits.httpBodyBytes == 16 << 20 },
    Reading("HTTP_IDLE_TIMEOUT", "1h") { $0.limits.httpIdleTimeout == .seconds(3600) },
    Reading("BACKEND_CONNECT_TIMEOUT", "1d") { $0.limits.backendConnectTimeout == .seconds(86_400) },
    Reading("WS_MAX_FRAME_BYTES", "125") { $0.limits.frameBytes == 125 },
    Reading("WS_MAX_MESSAGE_BYTES", "64MiB") { $0.limits.messageBytes == 64 << 20 },
    Reading("QUEUE_MAX_BYTES", "4KiB") { $0.limits.queueBytes == 4096 },
    Reading("WRITE_STALL_TIMEOUT", "7") { $0.limits.writeStallTimeout == .seconds(7) },
    Reading("PING_INTERVAL", "89999ms") { $0.limits.pingInterval == .milliseconds(89_999) },
    Reading("PONG_TIMEOUT", "30001ms") { $0.limits.pongTimeout == .milliseconds(30_001) },
    Reading("MAX_CONNECTIONS", "1") { $0.limits.connections == 1 },
    Reading("MAX_PENDING", "7") { $0.limits.pending == 7 },
    Reading("MAX_CONNECTIONS_PER_ADDRESS", "7") { $0.limits.connectionsPerAddress == 7 },
    Reading("MAX_SESSIONS_PER_KEY", "1000") { $0.limits.sessionsPerKey == 1000 },
    Reading("CHALLENGE_RATE", "10/s") {
      $0.limits.challengeRate == Rate(count: 10, per: .seconds(1), burst: 600)
    },
    Reading("REGISTER_CHALLENGE_TTL", "1h") { $0.limits.registerChallengeTTL == .seconds(3600) },
    Reading("REGISTER_CHALLENGE_TTL", "24h") { $0.limits.registerChallengeTTL == .seconds(86_400) },
    Reading("REGISTER_RATE", "1000000/m") {
      $0.limits.registerRate == Rate(count: 1_000_000, per: .seconds(60), burst: 1_000_000)
    },
    Reading("DRAIN_TIMEOUT", "1s") { $0.limits.drainTimeout == .seconds(1) },
    Reading("GAME_CHARSET", "koi8-r") { $0.telnet.charset == .koi8R },
    Reading("GAME_CHARSET", "LATIN1") { $0.telnet.charset == .iso88591 },
    Reading("GAME_SGA", "true") { $0.telnet.agreesToSuppressGoAhead },
    Reading("GAME_COMPRESSION", "mccp2") { $0.telnet.compression == .mccp2 },
    Reading("GAME_COMPRESSION", "off") { $0.telnet.compression == .off },
    Reading("GAME_KEEPALIVE", "1m") { $0.telnet.keepAlive == .seconds(60) },
    Reading("GAME_KEEPALIVE", "off") { $0.telnet.keepAlive == nil },
    Reading("SUBPROTOCOLS", "portcullis.v1, none") { $0.sessions.subprotocols == ["portcullis.v1", "none"] },
    Reading("GMCP_AGAIN", "Char.Vitals, room.*") {
      $0.sessions.packagesToldAgain == ["Char.Vitals", "room.*"]
    },
    Reading("SESSION_RESUME_FOR", "0") { $0.sessions.resumableFor == .zero },
    Reading("SESSION_RESUME_FOR", "24h") { $0.sessions.resumableFor == .seconds(86_400) },
    Reading("HOT_RESTART", "auto") { $0.sessions.canBeKept },
    Reading("HOT_RESTART", "off") { $0.sessions.hotRestart == .off && !$0.sessions.canBeKept },
    Reading("HOT_RESTART_MAX_SESSIONS", "0") { $0.sessions.mostKept == 0 && !$0.sessions.canBeKept },
    Reading("HOT_RESTART_MAX_SESSIONS", "4096") { $0.sessions.mostKept == 4096 },
    Reading("DEVICE_PSEUDONYM_KEY_PATH", "secret.key") { $0.store.pseudonymKeyPath == "secret.key" },
    Reading("INPUT_RATE", "5/s") { $0.limits.inputRate == Rate(count: 5, per: .seconds(1), burst: 50) },
    Reading("SESSION_BUFFER", "4KiB") { $0.limits.sessionBufferBytes == 4096 },
    Reading("SESSION_BUFFERS_TOTAL", "65536MiB") { $0.limits.sessionBuffersBytes == 64 << 30 },
    Reading("MAX_DETACHED", "7") { $0.limits.detached == 7 },
  ]

  @Test(arguments: values) func read(reading: Reading) throws {
    let fromEnvironment = try load(adding: [(reading.name, reading.text)])
    #expect(reading.holds(fromEnvironment.configuration))
    let rest = smallest.filter { $0.0 != reading.name }
    let fromFile = try load(rest, file: "\(reading.name)='\(reading.text)'\n")
    #expect(fromFile.configuration.withoutOrigin == fromEnvironment.configuration.withoutOrigin)
    let row = fromFile.settings.first { $0.name == reading.name }
    #expect(row?.source == .file(line: 1))
  }

  @Test func everySettingIsRead() {
    let tested = Set(Self.values.map(\.name))
    // These are read together with others in CombinationTests.
    let together: Set = [
      "NODE_ENV", "PORTCULLIS_ENV", "TLS_CERT_PATH", "TLS_KEY_PATH", "APPATTEST_TEAM_ID",
      "APPATTEST_BUNDLE_ID",
      "ALLOW_MTLS_FALLBACK", "MTLS_CLIENT_CA_PATH", "LISTEN_PROXY_PROTOCOL",
    ]
    let withDevices = Set(DeviceSettingTests.wrong.map(\.0)).union([
      "ASSURANCE_POLICY", "APPROVAL_POLICY", "TLS_NEXT_KEY_PATH",
      "RISK_POLICY", "GEO_PATH", "GEO_COUNTRY_PATH", "GEO_ASN_PATH", "SOCKET_GROUP",
    ]).union(AndroidSettingTests.names)
    let ofAdmin = Set(AdminSettingTests.wrong.map(\.0))
    #expect(
      tested.union(together).union(withDevices).union(ofAdmin) == Set(SettingTable.settings.map(\.name)))
  }

  static let wrong: [(String, [String])] = [
    ("REQUIRE_APP_AUTH", ["True", "TRUE", "1", "yes", "on", "true ", "flase"]),
    ("ALLOW_MTLS_FALLBACK", ["no"]), ("LISTEN_PROXY_PROTOCOL", ["off"]),
    ("APPATTEST_REQUIRE_LAUNCH_INFO", ["0"]),
    (
      "LISTEN", ["8443", "localhost:8443", "0.0.0.0:8443,", ",", "0.0.0.0:1,0.0.0.0:1", "[::ffff:1.2.3.4]:1"]
    ),
    ("BACKEND", ["mud", "mud:0", "mud:65536", "unix:", "echo", "http://mud:80", "::1:4000"]),
    ("BACKEND_PROXY_PROTOCOL", ["V1", "v3", "true"]), ("WS_MESSAGE_TYPE", ["Binary", "utf8"]),
    ("WS_COMPRESSION", ["", "On", "Off", "true", "permessage-deflate"]),
    ("WS_COMPRESSION_WINDOWS", ["-1", "65537MiB", "off"]),
    (
      "ALLOWED_ORIGINS",
      ["example.com", "https://a.example/", "https://", "https://a b", "https://a:0", "https://a:x"]
    ),
    (
      "ALLOWED_ORIGINS",
      ["https://a,https://a", "https://u@a", "https://a?x", "https://[::1", "1://a", "https:/a"]
    ),
    (
      "APPATTEST_APP_IDS",
      [
        "com", ".com", "ABCDE12345.", "ABCDE12345..a", "ABCDE12345.a b", "TEAM.a", "abcde12345.a",
        "ABCDE12345.a,,ABCDE12345.b",
      ]
    ),
    ("APPATTEST_TEAM_ID", ["TE AM", "TEAM.", "ABCDE1234", "ABCDE123456", "abcde12345"]),
    ("APPATTEST_BUNDLE_ID", ["a..b", ".a", "a b", "a/b", String(repeating: "a", count: 156)]),
    ("APPATTEST_ENVIRONMENT", ["Production", "all", "production,development"]),
    ("APPATTEST_ALLOWED_CATEGORIES", ["-1", "4294967296", "1,,2", "1 2", "+1", "1,1"]),
    ("APPATTEST_ALLOWED_BUNDLE_VERSIONS", ["a,,b", String(repeating: "v", count: 257)]),
    ("TRUSTED_PROXIES", ["10.0.0.1/8", "10.0.0.0/33", "proxy.example", "10.0.0.0/8;::1"]),
    ("WORKERS", ["0", "257", "-1", "+1", "two", "1.5", "1e2", "99999999999999999999"]),
    ("LOG_LEVEL", ["INFO", "warn", "verbose"]), ("LOG_FORMAT", ["logfmt"]), ("KEYSTORE_DURABILITY", ["none"]),
    ("RUN_AS", [":", "a:", ":b", "a:b:c", "a b", "a\tb", " a"]), ("PORTCULLIS_SANDBOX", ["off", "True"]),
    ("KEYSTORE_MAX_KEYS", ["0", "100000001"]), ("CONTROL_SOCKET", [String(repeating: "a", count: 108)]),
    ("ATTESTED_KEYS_PATH", [String(repeating: "a", count: 4096), "a\0b"]),
    (
      "TLS_HANDSHAKE_TIMEOUT",
      ["0", "0s", "0ms", "-1s", "1.5s", "1 s", "s", "1S", "1w", "86401", "2d", "1m30s"]
    ),
    ("DRAIN_TIMEOUT", ["9223372036854775807d", "99999999999999999999s"]), ("HTTP_HEAD_TIMEOUT", ["0"]),
    ("HTTP_BODY_TIMEOUT", ["0"]), ("HTTP_IDLE_TIMEOUT", ["0"]), ("BACKEND_CONNECT_TIMEOUT", ["0"]),
    ("WRITE_STALL_TIMEOUT", ["0"]), ("PING_INTERVAL", ["0"]), ("PONG_TIMEOUT", ["0"]),
    ("HTTP_HEAD_MAX_BYTES", ["1023", "1048577", "8k", "8KB", "8 KiB", "8kib", "KiB", "1GiB", "-1"]),
    ("HTTP_BODY_MAX_BYTES", ["1023", "17MiB", "9223372036854775807MiB"]),
    ("WS_MAX_FRAME_BYTES", ["124", "17MiB"]),
    ("WS_MAX_MESSAGE_BYTES", ["124", "65MiB"]), ("QUEUE_MAX_BYTES", ["4095", "16385KiB"]),
    ("HANDSHAKE_RATE", ["30", "30/h", "0/s", "/s", "1000001/s", "-1/s", "1.5/s", "30 /s"]),
    ("CHALLENGE_RATE", ["0/m"]), ("REGISTER_RATE", ["x/m"]),
    ("REGISTER_CHALLENGE_TTL", ["0", "59s", "86401s", "2d", "off"]), ("MAX_CONNECTIONS", ["0", "10000001"]),
    ("GAME_CHARSET", ["UTF-16", "utf 8", "UTF-8,latin1", "ISO-8859-12", "windows-1258"]),
    ("GAME_SGA", ["yes"]), ("GAME_COMPRESSION", ["MCCP2", "true", "mccp3"]),
    ("GAME_KEEPALIVE", ["0", "Off", "false", "999ms", "25h", "never"]),
    (
      "SUBPROTOCOLS",
      [
        "None", "raw", "all,none", "All", "portcullis", "none,none", "none,", "binary none", "Portcullis.v1",
        "none,v2",
      ]
    ),
    (
      "GMCP_AGAIN",
      ["*", ".*", "Char*", "Char.*.*", "1Char", "Char Vitals", "Char,,Room", "C\u{E9}", "Char,Char"]
    ),
    ("GMCP_AGAIN", [String(repeating: "a", count: 65), String(repeating: "a", count: 65) + ".*"]),
    ("SESSION_RESUME_FOR", ["-1", "86401", "25h", "off", "x"]), ("INPUT_RATE", ["20", "0/s"]),
    ("HOT_RESTART", ["on", "true", ""]), ("HOT_RESTART_MAX_SESSIONS", ["-1", "4097", "x"]),
    ("SESSION_BUFFER", ["4095", "17MiB", "0"]), ("SESSION_BUFFERS_TOTAL", ["65535", "65537MiB", "1GiB"]),
    ("MAX_DETACHED", ["0", "10000001", "x"]),
    ("MAX_PENDING", ["0"]), ("MAX_CONNECTIONS_PER_ADDRESS", ["0"]), ("MAX_SESSIONS_PER_KEY", ["0", "1001"]),
  ]

  @Test(arguments: wrong) func refused(name: String, texts: [String]) {
    for text in texts {
      let found = problems(adding: [(name, text)]).filter { $0.name == name && $0.remedy.hasPrefix("write ") }
      #expect(found.count == 1, "\(name)=\(text)")
      #expect(found.first?.place == "environment")
      #expect(found.first?.shownValue != nil)
    }
  }

  @Test(arguments: SettingTable.settings.map(\.name)) func anEmptyValueIsAnError(name: String) {
    let found = problems(adding: [(name, "")]).filter { $0.name == name }
    #expect(found.contains { $0.reason == "is empty" && $0.remedy.hasSuffix("or remove it") })
    let inFile = problems(smallest.filter { $0.0 != name }, file: "\n\(name)=\n").filter { $0.name == name }
    #expect(inFile.contains { $0.reason == "is empty" && $0.place == "gate.env:2" })
  }

  /// docs/settings.md: the defaults, written out once more by hand.
  @Test func defaults() throws {
    let configuration = try load().configuration
    #expect(configuration.listen.map(\.description) == ["0.0.0.0:8443", "[::]:8443"])
    #expect(configuration.backend == GateConfiguration.Backend(target: .tcp(host: "127.0.0.1", port: 4000)))
    #expect(configuration.tls == nil && !configuration.mtls.fallback && configuration.requiresAppAuth)
    #expect(configuration.attest.environments == [.production])
    #expect(configuration.attest.rootPath == nil && configuration.attest.allowedCategories == nil)
    #expect(!configuration.attest.requiresLaunchInfo && configuration.attest.receiptsPath == nil)
    #expect(!configuration.origins.isRestricted && configuration.proxies == GateConfiguration.Proxies())
    #expect(configuration.store.path == "config/attested-keys.json")
    #expect(configuration.store.durability == .strict && configuration.store.maximumKeys == 2_000_000)
    #expect(configuration.controlSocketPath == "config/portcullis.sock")
    #expect(configuration.log == GateConfiguration.Log(level: .info, format: .text))
    #expect(configuration.workers == 4 && configuration.messageType == .binary)
    let limits = configuration.limits
    #expect(limits.tlsHandshakeTimeout == .seconds(10))
    #expect(limits.handshakeRate == Rate(count: 30, per: .seconds(1), burst: 600))
    #expect(limits.httpHeadTimeout == .seconds(10) && limits.httpHeadBytes == 8192)
    #expect(limits.httpBodyTimeout == .seconds(10) && limits.httpBodyBytes == 65_536)
    #expect(limits.httpIdleTimeout == .seconds(30) && limits.backendConnectTimeout == .seconds(3))
    #expect(limits.frameBytes == 65_536 && limits.messageBytes == 65_536 && limits.queueBytes == 262_144)
    #expect(limits.writeStallTimeout == .seconds(30))
    #expect(limits.pingInterval == .seconds(30) && limits.pongTimeout == .seconds(90))
    #expect(limits.connections == 20_000 && limits.pending == 4096 && limits.connectionsPerAddress == 256)
    #expect(limits.sessionsPerKey == 5 && limits.drainTimeout == .seconds(7))
    #expect(limits.inputRate == Rate(count: 20, per: .seconds(1), burst: 200))
    #expect(limits.sessionBufferBytes == 65_536 && limits.sessionBuffersBytes == 256 << 20)
    #expect(limits.detached == 10_000)
    #expect(configuration.telnet == GateConfiguration.Telnet() && configuration.telnet.charset == .utf8)
    #expect(!configuration.telnet.agreesToSuppressGoAhead && configuration.telnet.compression == .off)
    #expect(configuration.telnet.keepAlive == nil)
    #expect(configuration.sessions.subprotocols == GateConfiguration.Sessions.allSubprotocols)
    #expect(configuration.sessions.packagesToldAgain == ["Char.*", "Room.*", "Group.*"])
    #expect(configuration.sessions.resumableFor == .seconds(600))
    #expect(configuration.store.pseudonymKeyPath == "config/device-pseudonym.key")
    #expect(limits.challengeRate == Rate(count: 600, per: .seconds(60), burst: 600))
    #expect(limits.registerRate == Rate(count: 120, per: .seconds(60), burst: 120))
  }
}
