import Foundation
import Testing

@testable import Configuration

@Suite struct LoaderTests {
  @Test func theEnvironmentWinsOverTheFile() throws {
    let loaded = try load(
      adding: [("LOG_LEVEL", "debug")], file: "LOG_LEVEL=error\nLOG_FORMAT=json\nHTTP_IDLE_TIMEOUT=1m\n")
    #expect(loaded.configuration.log == GateConfiguration.Log(level: .debug, format: .json))
    #expect(loaded.configuration.limits.httpIdleTimeout == .seconds(60))
    let sources = Dictionary(uniqueKeysWithValues: loaded.settings.map { ($0.name, $0.source) })
    #expect(sources["LOG_LEVEL"] == .environment)
    #expect(sources["LOG_FORMAT"] == .file(line: 2))
    #expect(sources["WORKERS"] == .standard)
    // What is overruled is not looked at.
    #expect(problems(adding: [("LOG_LEVEL", "debug")], file: "LOG_LEVEL=loud\n").isEmpty)
  }

  @Test func theFirstOfTwoVariablesCounts() throws {
    let twice = smallest + [("LOG_LEVEL", "debug"), ("LOG_LEVEL", "error")]
    #expect(try load(twice).configuration.log.level == .debug)
  }

  @Test func allProblemsAtOnceInTheOrderOfTheTable() throws {
    let failure = #expect(throws: ConfigurationFailure.self) {
      try load(
        [
          ("LOG_LEVEL", "loud"), ("LISTEN", "8443"), ("PORTCULLIS_ENV", "production"), ("KEYSTORE_SIZE", "1"),
          ("WORKER", "2"), ("BACKEND", "echo:"),
        ],
        file: "PING_INTERVAL=2m\noops\nLOG_COLOUR=true\nTLS_CERT_PATH=missing.pem\n")
    }
    let failed = try #require(failure)
    #expect(
      failed.problems.map { $0.name ?? $0.place } == [
        "gate.env:2", "LOG_COLOUR", "KEYSTORE_SIZE", "LISTEN", "TLS_CERT_PATH", "TLS_CERT_PATH", "BACKEND",
        "APPATTEST_APP_IDS", "LOG_LEVEL", "PONG_TIMEOUT",
      ])
    #expect(failed.warnings == [.similarName("WORKER", setting: "WORKERS")])
  }

  @Test func aProblemNamesValuePlaceAndRemedy() {
    let found = problems(file: "\nHTTP_HEAD_TIMEOUT=0s\n")
    #expect(
      found.map(\.description) == [
        "HTTP_HEAD_TIMEOUT=0s (gate.env:2) is out of range: "
          + "write seconds, or a number with ms, s, m, h or d, from 1ms to 1d"
      ])
  }

  @Test func valuesAreShownWithoutHarm() {
    let wild = problems(adding: [("LOG_LEVEL", "a\u{1B}[2J\n\u{202E}" + String(repeating: "x", count: 200))])
    let text = wild.first?.description ?? ""
    #expect(text.hasPrefix("LOG_LEVEL=\"a\\u001b[2J\\n\\u202exxx"))
    #expect(text.contains("xx\u{2026}\""))
    #expect(text.utf8.count < 300)
  }

  @Test func aKeyInPlaceOfItsPathIsNotShown() throws {
    let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----"
    for found in problems(production, adding: [("TLS_KEY_PATH", key)]) + problems(adding: [("LISTEN", key)]) {
      #expect(!found.description.contains("MC4CAQAw"))
      #expect(found.shownValue == nil)
    }
    #expect(shown("hunter2", isSecret: true) == nil)
    #expect(shown("hunter2", isSecret: false) == "hunter2")
    let loaded = try load(adding: [("APPATTEST_ALLOWED_BUNDLE_VERSIONS", key)])
    #expect(!ConfigurationReport.text(loaded).contains("MC4CAQAw"))
    #expect(!ConfigurationReport.json(loaded).contains("MC4CAQAw"))
  }

  @Test(
    arguments: [
      ("APPATTEST_APP_ID", "APPATTEST_APP_IDS"), ("PORTCULLIS_EVN", "PORTCULLIS_ENV"),
      ("KEYSTORE_MAX_KEY", "KEYSTORE_MAX_KEYS"),
      ("MTLS_CLIENT_CA_PAHT", "MTLS_CLIENT_CA_PATH"), ("PORTCULLIS_COLOUR", nil), ("APPATTEST_", nil),
      ("MTLS_X", nil),
    ] as [(String, String?)])
  func unknownNamesOfOursAreFatal(name: String, setting: String?) {
    let found = problems(adding: [(name, "hunter2")])
    #expect(found.map(\.name) == [name])
    #expect(found.first?.place == "environment")
    #expect(found.first?.description.contains("hunter2") == false)
    if let setting { #expect(found.first?.remedy.contains(setting) == true) }
  }

  /// The remedy of an unknown name sends people here: what holds is shown all the same, and all of it can be a file.
  @Test func whatHoldsIsShownBesideProblems() throws {
    let file = "WORKERS=zero\nLOG_LEVEL=debug\nCOLOUR=hunter2\nPING_INTERVAL=100s\n"
    let failure = try #require(throws: ConfigurationFailure.self) { try load(file: file) }
    let lines = ConfigurationReport.text(failure).split(separator: "\n").map(String.init)
    #expect(
      lines.first?.hasPrefix("# COLOUR (gate.env:3) is not a setting: remove it (portcullis config") == true)
    #expect(lines.contains("LOG_LEVEL=debug  # gate.env:2"))
    #expect(lines.contains { $0.hasPrefix("# WORKERS=zero (gate.env:1) is ") })
    #expect(lines.contains { $0.hasPrefix("# PONG_TIMEOUT=90s is not longer than PING_INTERVAL") })
    for start in ["WORKERS=", "PONG_TIMEOUT="] { #expect(!lines.contains { $0.hasPrefix(start) }) }
    #expect(!lines.contains { $0.contains("hunter2") })
    #expect(lines.count == SettingTable.current.count + 1)
    #expect(EnvironmentFile(parsing: Array(lines.joined(separator: "\n").utf8).span).errors.isEmpty)
    let objects = ConfigurationReport.json(failure).split(separator: "\n")
    #expect(objects.count == SettingTable.current.count + 1)
    #expect(objects.first?.hasPrefix(#"{"problems":["COLOUR (gate.env:3) "#) == true)
    #expect(objects.filter { $0.contains(#""value":null"#) && $0.contains(#""problems":["#) }.count == 2)
  }

  /// Each says what is missing, and shows the form.
  @Test(
    arguments: [
      (
        "BACKEND", "localhost",
        "BACKEND=localhost (environment) has no port: write localhost:4000, with the port"
      ),
      (
        "BACKEND", "/run/mud.sock",
        "BACKEND=/run/mud.sock (environment) has no port: write unix:/run/mud.sock"
      ),
      ("BACKEND", "no host", "(environment) has no port: write host:port, such as localhost:4000"),
      ("APPATTEST_APP_IDS", "ABCDE1234.com.example.mud", "its team has 9 characters, and Apple's have 10"),
      ("APPATTEST_APP_IDS", "abcde12345.com.example.mud", "its team has characters other than A-Z and 0-9"),
      ("APPATTEST_APP_IDS", "ABCDE12345", "it has no full stop after the team"),
      ("APPATTEST_APP_IDS", "ABCDE12345.com..mud", "what follows the team is no bundle identifier"),
    ])
  func whatIsMissingIsSaid(name: String, text: String, message: String) {
    let found = problems(adding: [(name, text)])
    #expect(found.map(\.name) == [name])
    #expect(found.first?.description.contains(message) == true)
  }

  @Test func serviceLinksOfKubernetesAreExplained() {
    let found = problems(adding: [("PORTCULLIS_SERVICE_HOST", "10.0.0.1")])
    #expect(found.first?.remedy.contains("enableServiceLinks") == true)
  }

  @Test(arguments: ["PATHS", "COLOUR", "log_level", "FOO"]) func unknownNamesInTheFileAreFatal(name: String) {
    let found = problems(file: "\(name)=hunter2\n")
    #expect(found.map(\.name) == [name])
    #expect(found.first?.place == "gate.env:1")
    #expect(found.first?.description.contains("hunter2") == false)
  }

  @Test(arguments: [
    ("LISTE", "LISTEN"), ("LISTNE", "LISTEN"), ("LISTENER", "LISTEN"), ("WORKER", "WORKERS"),
    ("BACKENDS", "BACKEND"),
    ("NODEENV", "NODE_ENV"), ("log_level", "LOG_LEVEL"), ("LOG_LEVLE", "LOG_LEVEL"),
    ("REQUIRE_AP_AUT", "REQUIRE_APP_AUTH"),
    ("HTTP_TIME_OUT", "HTTP_TIMEOUT"), ("TLS_CERTPATH", "TLS_CERT_PATH"),
    ("ALLOWED_ORIGIN", "ALLOWED_ORIGINS"),
    ("ALLOW_MTLS_FALBACK", "ALLOW_MTLS_FALLBACK"), ("LISTEN_", "LISTEN"),
  ])
  func slipsAreWarnedOf(name: String, setting: String) throws {
    #expect(try load(adding: [(name, "x")]).warnings == [.similarName(name, setting: setting)])
  }

  /// What shells, containers, systemd, Swift, OpenSSL and other programs set.
  @Test(arguments: [
    "PATH", "HOME", "HOST", "HOSTNAME", "PORT", "USER", "LANG", "LC_ALL", "TERM", "SHELL", "SHLVL", "PWD",
    "OLDPWD",
    "TZ", "LOGNAME", "MAIL", "EDITOR", "PAGER", "DISPLAY", "TMPDIR", "LISTEN_FDS", "LISTEN_PID",
    "LISTEN_FDNAMES",
    "NOTIFY_SOCKET", "WATCHDOG_USEC", "INVOCATION_ID", "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID",
    "CREDENTIALS_DIRECTORY", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "LOGS_DIRECTORY",
    "KUBERNETES_SERVICE_HOST",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NODE_PATH",
    "NODE_OPTIONS", "NODE_VERSION", "NPM_CONFIG_LOGLEVEL", "LOG_FILE", "LOGLEVEL_X", "SWIFT_BACKTRACE",
    "LD_LIBRARY_PATH",
    "LESSOPEN", "LINES", "COLUMNS", "LS_COLORS", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "DEBIAN_FRONTEND",
    "BACK",
    "_", "", "CI", "A",
  ])
  func commonNamesAreNotWarnedOf(name: String) throws {
    #expect(try load(adding: [(name, "x")]).warnings.isEmpty)
  }

  @Test(
    arguments: [
      ("abc", "abc", 0), ("abc", "ab", 1), ("abc", "acb", 1), ("abc", "abcd", 1), ("abc", "xbc", 1),
      ("abc", "xyc", 2),
      ("abc", "xyz", nil), ("abc", "abcdef", nil), ("", "ab", 2), ("", "abc", nil), ("ca", "abc", nil),
    ] as [(String, String, Int?)])
  func distances(left: String, right: String, expected: Int?) {
    #expect(NameCheck.distance(Array(left.utf8), Array(right.utf8), atMost: 2) == expected)
  }

  @Test func origins() throws {
    let some = try load(adding: [("ALLOWED_ORIGINS", "https://a.example,http://b:8080,https://[::1]:1")])
      .configuration.origins
    for origin in ["https://a.example", "http://b:8080", "https://[::1]:1"] { #expect(some.permits(origin)) }
    for origin in [
      "https://a.example:443", "http://a.example", "https://A.example", "https://a.example/", "null", "*", "",
      "https://a.example.evil", "http://b", "https://b:8080",
    ] {
      #expect(!some.permits(origin))
    }
    let any = try load(adding: [("ALLOWED_ORIGINS", "*")]).configuration.origins
    #expect(any.permits("https://whoever") && !any.permits("null"))
    let anyAndNull = try load(adding: [("ALLOWED_ORIGINS", "*,null")]).configuration.origins
    #expect(anyAndNull.permits("null"))
    #expect(AllowedOrigins.unrestricted.permits("null"))
  }
}

@Suite struct ReloadTests {
  @Test func limitsAndCertificatesChangeAtRunTime() throws {
    let old = try load(production).configuration
    let new = try load(
      production,
      adding: [
        ("LOG_LEVEL", "debug"), ("PING_INTERVAL", "10s"), ("MAX_CONNECTIONS", "100"),
        ("TLS_CERT_PATH", "ca.pem"),
        ("LISTEN", "127.0.0.1:1"), ("LOG_FORMAT", "json"),
      ]
    ).configuration
    let differences = old.reloadDifferences(to: new)
    #expect(differences.applicable == ["TLS_CERT_PATH", "LOG_LEVEL", "PING_INTERVAL", "MAX_CONNECTIONS"])
    #expect(differences.needRestart == ["LISTEN", "LOG_FORMAT"])
    let result = old.reloading(from: new)
    #expect(result.log == GateConfiguration.Log(level: .debug, format: .text))
    #expect(result.limits == new.limits && result.tls == new.tls && result.listen == old.listen)
    #expect(result.reloadDifferences(to: new).applicable.isEmpty)
    #expect(result.reloadDifferences(to: new).needRestart == ["LISTEN", "LOG_FORMAT"])
  }

  @Test func theSameValueInOtherWordsIsNoChange() throws {
    let old = try load(adding: [("PING_INTERVAL", "30s"), ("QUEUE_MAX_BYTES", "256KiB")]).configuration
    let new = try load(adding: [("PING_INTERVAL", "30000ms"), ("QUEUE_MAX_BYTES", "262144")]).configuration
    #expect(old.reloadDifferences(to: new).isEmpty)
    #expect(old.reloading(from: new) == old)
  }

  @Test func whatStaysKeepsWhatItNeeds() throws {
    let old = try load(production).configuration
    let open = try load().configuration
    #expect(old.reloading(from: open) == old)
    #expect(old.reloadDifferences(to: open).applicable.isEmpty)
    #expect(
      old.reloadDifferences(to: open).needRestart == ["PORTCULLIS_ENV", "TLS_CERT_PATH", "TLS_KEY_PATH"])
    let fallback = [("ALLOW_MTLS_FALLBACK", "true"), ("MTLS_CLIENT_CA_PATH", "ca.pem")]
    let relaxed = try load(adding: fallback).configuration
    #expect(relaxed.reloading(from: open).mtls == relaxed.mtls)
    #expect(
      relaxed.reloadDifferences(to: open).needRestart == ["ALLOW_MTLS_FALLBACK", "MTLS_CLIENT_CA_PATH"])
    // Outside production the certificate may go: then one is made in memory.
    let served = try load(adding: [("TLS_CERT_PATH", "cert.pem"), ("TLS_KEY_PATH", "key.pem")]).configuration
    #expect(served.reloading(from: open).withoutOrigin == open.withoutOrigin)
  }

  @Test func everyLimitIsReloadable() {
    let fixed = SettingTable.settings.filter { $0.group == .limits && !$0.isReloadable }.map(\.name)
    #expect(fixed.isEmpty)
    let others = SettingTable.settings.filter { $0.group != .limits && $0.isReloadable }.map(\.name)
    #expect(
      others == [
        "TLS_CERT_PATH", "TLS_KEY_PATH", "TLS_MIN_VERSION", "WS_COMPRESSION", "GMCP_AGAIN",
        "SESSION_RESUME_FOR",
        "MTLS_CLIENT_CA_PATH", "DEVICES_RETENTION", "DEVICE_APPROVAL", "DEVICES_PER_SUBJECT",
        "SERVICE_STORE_PER_DAY", "TOKEN_AUDIENCES", "PRESENCE_MAX_AGE", "OTP_TTL", "OTP_ATTEST_MAX_AGE",
        "PRESENCE_RSSI_MIN",
        "DEVICE_MIN_LEVEL", "ASSURANCE_POLICY",
        "ANDROID_APPS", "ANDROID_ROOTS_PATH", "ANDROID_REVOCATION_PATH", "ANDROID_REVOCATION_MAX_AGE",
        "PLAY_INTEGRITY_KEYS_PATH", "PLAY_INTEGRITY_MIN", "APPROVAL_POLICY", "RISK_POLICY",
        "GEO_PATH",
        "TLS_NEXT_KEY_PATH", "PINS_FORCE",
        "LOG_LEVEL",
        "ADMIN_METRICS_TOKEN", "ADMIN_OPERATORS", "ADMIN_HOSTS", "READY_NEEDS",
        "GEO_COUNTRY_PATH", "GEO_ASN_PATH",
      ])
  }
}
