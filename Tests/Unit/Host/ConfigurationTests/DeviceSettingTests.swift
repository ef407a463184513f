import Testing

@testable import Configuration

/// The settings of devices: what they read, and that none of them switches half of something on.
@Suite struct DeviceSettingTests {
  /// The smallest that has devices.
  static let on = smallest + [("DEVICES_PATH", "config/devices.db"), ("PUBLIC_URL", "https://mud.example")]

  @Test func thereAreNoneByDefault() throws {
    let configuration = try load().configuration
    #expect(!configuration.devices.areOn && configuration.devices.playLevel == nil)
    #expect(configuration.files.devicesPath == nil && configuration.minimumTLSVersion == .tls12)
    let devices = try load(Self.on).configuration.devices
    #expect(devices.areOn && devices.retention == .seconds(30 * 86_400) && devices.approval == .operator)
    #expect(devices.minimumLevel == .bare && devices.perSubject == 5 && devices.tokenAudiences.isEmpty)
    #expect(devices.presenceMaximumAge == .seconds(60) && !devices.pinsAreForced)
    #expect(devices.codeLife == .seconds(120) && devices.codeAttestationMaximumAge == .seconds(600))
    #expect(devices.approvalsSocket == GateConfiguration.ApprovalsSocket())
    let limits = try load(Self.on).configuration.limits
    #expect(limits.deviceRate == Rate(count: 60, per: .seconds(60), burst: 60))
    #expect(limits.serviceRate == Rate(count: 600, per: .seconds(60), burst: 600))
  }

  @Test func allOfThem() throws {
    let loaded = try load(
      Self.on,
      adding: [
        ("DEVICES_RETENTION", "90d"), ("DEVICE_APPROVAL", "evidence"), ("DEVICE_MIN_LEVEL", "app_attested"),
        ("DEVICES_PER_SUBJECT", "2"), ("GATE_DEVICES", "hardware_attested"), ("PRESENCE_MAX_AGE", "2m"),
        ("TOKEN_AUDIENCES", "https://api.example, billing"), ("APPROVAL_POLICY", "policy.json"),
        ("ASSURANCE_POLICY", "policy.json"), ("APPROVALS_SOCKET", "config/approvals.sock"),
        ("APPROVALS_GROUP", "mud"), ("APPROVAL_OPERATORS", "alice, 1001"), ("TLS_NEXT_KEY_PATH", "key.pem"),
        ("PINS_FORCE", "true"), ("DEVICE_RATE", "1/s"), ("SERVICE_RATE", "10/s"), ("TLS_MIN_VERSION", "1.3"),
        ("PRESENCE_RSSI_MIN", "hall=-70, a=b=0,*=-127"),
        ("RISK_POLICY", "policy.json"), ("GEO_COUNTRY_PATH", "policy.json"), ("GEO_ASN_PATH", "policy.json"),
      ])
    let devices = loaded.configuration.devices
    #expect(devices.retention == .seconds(90 * 86_400) && devices.approval == .evidence)
    #expect(devices.minimumLevel == .appAttested && devices.perSubject == 2)
    #expect(devices.playLevel == .hardwareAttested && devices.presenceMaximumAge == .seconds(120))
    #expect(
      devices.presenceStrengths == [
        .init(site: "hall", minimum: -70), .init(site: "a=b", minimum: 0), .init(site: "*", minimum: -127),
      ])
    #expect(devices.tokenAudiences == ["https://api.example", "billing"] && devices.pinsAreForced)
    #expect(devices.approvalsSocket.group == "mud" && devices.approvalsSocket.operators == ["alice", "1001"])
    #expect(loaded.configuration.limits.deviceRate == Rate(count: 1, per: .seconds(1), burst: 60))
    #expect(loaded.configuration.limits.serviceRate == Rate(count: 10, per: .seconds(1), burst: 600))
    #expect(loaded.configuration.minimumTLSVersion == .tls13)
    let files = loaded.configuration.files
    #expect(files.devicesPath == "config/devices.db" && files.approvalPolicyPath == "policy.json")
    #expect(files.assurancePolicyPath == "policy.json" && files.nextKeyPath == "key.pem")
    #expect(files.approvalsSocket == devices.approvalsSocket)
    #expect(files.riskPolicyPath == "policy.json")
    #expect(files.countriesPath == "policy.json" && files.networksPath == "policy.json")
    #expect(devices.approvalsSocket.path == "config/approvals.sock")
  }

  @Test(
    arguments: [
      ("https://mud.example", "mud.example", 443), ("https://mud.example:8443", "mud.example", 8443),
      ("https://192.0.2.7", "192.0.2.7", 443), ("https://[2001:db8::1]", "2001:db8::1", 443),
      ("https://[2001:db8::1]:8443", "2001:db8::1", 8443), ("https://localhost:1", "localhost", 1),
    ] as [(String, String, UInt16)])
  func publicURLs(text: String, host: String, port: UInt16) throws {
    let url = try PublicURL(parsing: text)
    #expect(url.text == text && url.host == host && url.port == port)
  }

  static let wrong: [(String, [String])] = [
    ("SERVICE_STORE_PER_DAY", ["0", "1KiB", "64MB", "none"]),
    (
      "PUBLIC_URL",
      [
        "http://mud.example", "mud.example", "https://", "https://mud.example/", "https://mud.example/x",
        "https://mud.example?x", "https://mud.example#x", "https://a@mud.example", "https://Mud.example",
        "HTTPS://mud.example", "https://mud.example:", "https://mud.example:0", "https://mud.example:65536",
        "https://mud.example:443", "https://mud example", "https://2001:db8::1", "https://[::1",
        "https://mud.example:8443:1", " https://mud.example", "https://unix:1:2", "https://echo:",
      ]
    ),
    ("DEVICES_PATH", ["a\0b"]), ("DEVICES_RETENTION", ["0", "23h", "3651d", "off"]),
    ("DEVICE_APPROVAL", ["Operator", "both"]), ("DEVICE_MIN_LEVEL", ["off", "none", "App_attested"]),
    ("DEVICES_PER_SUBJECT", ["0", "1001"]), ("GATE_DEVICES", ["true", "Bare", "app"]),
    ("TOKEN_AUDIENCES", ["a,,b", "a,a", "a b", "a\u{E9}", String(repeating: "a", count: 257)]),
    ("APPROVALS_SOCKET", [String(repeating: "a", count: 108)]), ("APPROVALS_GROUP", ["a b", "a:b"]),
    ("APPROVAL_OPERATORS", ["alice,,bob", "alice,alice", "a:b", "alice bob"]), ("PINS_FORCE", ["yes"]),
    (
      "PRESENCE_RSSI_MIN",
      [
        "-70", "hall", "hall=", "=-70", "hall=-128", "hall=21", "hall=+1", "hall=-7x", "a=-1,,b=-1",
        "a=-1,a=-2",
      ]
    ), ("PRESENCE_MAX_AGE", ["0", "11m"]),
    ("OTP_TTL", ["0", "121s", "3m"]), ("OTP_ATTEST_MAX_AGE", ["0", "31d"]),
    ("DEVICE_RATE", ["60", "0/m"]), ("SERVICE_RATE", ["600"]),
    ("TLS_MIN_VERSION", ["1.1", "1", "TLSv1.3", "2"]),
  ]

  @Test(arguments: wrong) func refused(name: String, texts: [String]) {
    for text in texts {
      let socket = [("APPROVALS_SOCKET", "config/approvals.sock")]
      let found = problems(Self.on + socket, adding: [(name, text)])
      #expect(found.map(\.name) == [name], "\(name)=\(text)")
      #expect(found.first?.remedy.hasPrefix("write ") == true && found.first?.shownValue != nil)
    }
  }

  /// Whoever sets one of them means something to happen, and without devices nothing would.
  @Test(arguments: [
    ("PUBLIC_URL", "https://mud.example"), ("TOKEN_AUDIENCES", "billing"), ("GATE_DEVICES", "app_attested"),
    ("PRESENCE_RSSI_MIN", "hall=-70"), ("ASSURANCE_POLICY", "policy.json"),
    ("APPROVAL_POLICY", "policy.json"),
    ("APPROVALS_SOCKET", "config/approvals.sock"),
    ("APPROVALS_GROUP", "mud"), ("APPROVAL_OPERATORS", "alice"),
    ("RISK_POLICY", "policy.json"), ("GEO_PATH", "/geo"), ("GEO_COUNTRY_PATH", "policy.json"),
    ("GEO_ASN_PATH", "policy.json"),
  ])
  func withoutDevices(name: String, text: String) {
    let found = problems(adding: [(name, text)])
    #expect(found.map(\.name) == [name] && found.first?.reason == "is set without DEVICES_PATH")
    // What a shell would not take as it stands is in quotes.
    #expect(found.first?.shownValue == (text.contains("=") ? "\"\(text)\"" : text))
    #expect(problems(adding: [(name, text)], scope: .values).map(\.name) == [name])
  }

  /// What has a default may be stated in a file that is used with devices and without.
  @Test(arguments: [
    ("DEVICES_RETENTION", "90d"), ("DEVICE_APPROVAL", "evidence"), ("DEVICE_MIN_LEVEL", "app_attested"),
    ("DEVICES_PER_SUBJECT", "2"), ("GATE_DEVICES", "off"), ("PINS_FORCE", "true"),
    ("PRESENCE_MAX_AGE", "30s"), ("OTP_TTL", "30s"), ("OTP_ATTEST_MAX_AGE", "1h"),
    ("DEVICE_RATE", "1/s"), ("SERVICE_RATE", "1/s"), ("TLS_NEXT_KEY_PATH", "key.pem"),
    ("TLS_MIN_VERSION", "1.3"),
  ])
  func ofUseOrNoHarmWithoutDevices(name: String, text: String) {
    #expect(problems(adding: [(name, text)]).isEmpty)
  }

  @Test func devicesNeedAPublicURL() {
    let path = ("DEVICES_PATH", "config/devices.db")
    #expect(problems(adding: [path]).map(\.name) == ["PUBLIC_URL"])
    // A malformed one is one problem, not two.
    #expect(problems(adding: [path, ("PUBLIC_URL", "mud.example")]).count == 1)
  }

  @Test func allProblemsAtOnce() {
    let adding = [
      ("DEVICES_PATH", "no/devices.db"), ("APPROVAL_POLICY", "missing.json"), ("APPROVALS_GROUP", "mud"),
      ("TLS_MIN_VERSION", "1.1"), ("GATE_DEVICES", "bare"),
    ]
    let names = problems(production, adding: adding).map(\.name)
    #expect(
      names == [
        "TLS_MIN_VERSION", "DEVICES_PATH", "PUBLIC_URL", "GATE_DEVICES", "APPROVAL_POLICY", "APPROVALS_GROUP",
      ])
  }

  @Test func productionTakesNoBareDevicesToPlay() {
    let environment = production + Self.on.suffix(2)
    #expect(problems(environment, adding: [("GATE_DEVICES", "bare")]).map(\.name) == ["GATE_DEVICES"])
    #expect(problems(environment, adding: [("GATE_DEVICES", "app_attested")]).isEmpty)
    #expect(problems(Self.on, adding: [("GATE_DEVICES", "bare")]).isEmpty)
  }

  @Test(arguments: ["APPROVALS_GROUP", "APPROVAL_OPERATORS"]) func aSocketForThoseWhoUseIt(name: String) {
    let found = problems(Self.on, adding: [(name, "mud")])
    #expect(found.map(\.reason) == ["is set without APPROVALS_SOCKET"])
  }

  @Test func noFileForTwoThings() {
    let store = [("ATTESTED_KEYS_PATH", "config/devices.db")]
    #expect(problems(Self.on, adding: store).map(\.name) == ["DEVICES_PATH"])
    let socket = [("APPROVALS_SOCKET", "config/portcullis.sock")]
    #expect(problems(Self.on, adding: socket).map(\.name) == ["APPROVALS_SOCKET"])
  }

  @Test(arguments: [
    ("DEVICES_PATH", "no/devices.db", "does not exist"), ("DEVICES_PATH", "config", "names a directory"),
    ("APPROVALS_SOCKET", "no/approvals.sock", "does not exist"),
    ("APPROVAL_POLICY", "missing.json", "does not exist"),
    ("APPROVAL_POLICY", "config", "does not name a file"),
    ("ASSURANCE_POLICY", "missing.json", "does not exist"),
    ("RISK_POLICY", "missing.json", "does not exist"), ("GEO_COUNTRY_PATH", "config", "does not name a file"),
    ("GEO_ASN_PATH", "missing.mmdb", "does not exist"),
    ("TLS_NEXT_KEY_PATH", "missing.pem", "does not exist"),
  ])
  func filesMustBeThere(name: String, path: String, reason: String) {
    let found = problems(Self.on, adding: [(name, path)])
    #expect(found.map(\.name) == [name] && found.first?.reason.contains(reason) == true)
    #expect(problems(Self.on, adding: [(name, path)], scope: .values).isEmpty)
  }

  /// Who may write a policy says who approves.
  @Test(arguments: ["APPROVAL_POLICY", "ASSURANCE_POLICY", "RISK_POLICY"])
  func policiesAreTheirOwnersAlone(name: String) {
    var files = ImaginaryFiles.complete
    files.othersToWrite = ["policy.json"]
    let found = problems(Self.on, adding: [(name, "policy.json")], files: files)
    #expect(found.map(\.name) == [name] && found.first?.remedy == "chmod go-w policy.json")
    files.othersToWrite = []
    files.unreadable = ["policy.json"]
    #expect(problems(Self.on, adding: [(name, "policy.json")], files: files).map(\.name) == [name])
  }

  @Test func reloading() throws {
    let old = try load(Self.on).configuration
    let new = try load(
      Self.on,
      adding: [
        ("APPROVAL_POLICY", "policy.json"), ("DEVICES_PER_SUBJECT", "7"), ("GATE_DEVICES", "app_attested"),
        ("APPROVALS_SOCKET", "config/approvals.sock"), ("TLS_MIN_VERSION", "1.3"),
        ("PUBLIC_URL", "https://b.example"), ("DEVICE_RATE", "1/s"),
      ]
    ).configuration
    let differences = old.reloadDifferences(to: new)
    #expect(
      differences.applicable == ["TLS_MIN_VERSION", "DEVICES_PER_SUBJECT", "APPROVAL_POLICY", "DEVICE_RATE"])
    #expect(differences.needRestart == ["PUBLIC_URL", "GATE_DEVICES", "APPROVALS_SOCKET"])
    // Devices stay on, whatever a new file leaves out.
    let without = try load().configuration
    #expect(old.reloading(from: without).devices == old.devices)
  }
}
