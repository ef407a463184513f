/// What the settings mean together (docs/settings.md, "Production"): production, pairs, and files that must be there.
internal import Addresses

/// Starts from values that are good each by itself, and completes or refuses them together.
struct CombinationRules {
  var configuration: GateConfiguration
  private(set) var problems: [ConfigurationProblem] = []
  private(set) var warnings: [ConfigurationWarning] = []

  let stated: [String: StatedSetting]
  private let invalid: Set<String>
  private let places: [String: String?]
  /// Settings whose files or folders are not as they should be.
  private var unusable: Set<String> = []

  init(
    configuration: GateConfiguration, stated: [String: StatedSetting], invalid: Set<String>,
    places: [String: String?]
  ) {
    self.configuration = configuration
    self.stated = stated
    self.invalid = invalid
    self.places = places
  }

  /// Fills in the values that several settings or the machine decide, and warns of what was changed by that.
  mutating func resolve(processors: Int, descriptorLimit: Int) {
    configuration.resolve(processors: processors, descriptorLimit: descriptorLimit)
    warnOfEnvironment()
    warnOfConnections(descriptorLimit: descriptorLimit)
    if configuration.isProduction, configuration.stated.allowsFallback {
      warnings.append(.fallbackIgnoredInProduction)
    }
    let limits = configuration.limits
    if isValid("WS_MAX_FRAME_BYTES", "WS_MAX_MESSAGE_BYTES"), limits.messageBytes < limits.frameBytes {
      warnings.append(
        .messageSmallerThanFrame(messageBytes: limits.messageBytes, frameBytes: limits.frameBytes))
    }
    if isValid("SESSION_BUFFER", "SESSION_BUFFERS_TOTAL"),
      limits.sessionBuffersBytes < limits.sessionBufferBytes
    {
      report(
        "SESSION_BUFFERS_TOTAL", "is less than SESSION_BUFFER (\(sizeText(limits.sessionBufferBytes)))",
        "write a larger one, such as 4096 times SESSION_BUFFER")
    }
    checkValues()
  }

  /// What a server needs beyond good values.
  mutating func check(_ files: any ConfigurationFiles) {
    checkProduction()
    checkAppIDs()
    checkFallback()
    if isValid("GAME_CHARSET", "SUBPROTOCOLS"), configuration.sessions.haveTelnet,
      !files.has(configuration.telnet.charset)
    {
      report(
        "GAME_CHARSET", "is a charset that the C library has no module for",
        "install the package with its modules (gconv), or write another one")
    }
    let count = problems.count
    checkFiles(files)
    unusable = Set(problems[count...].compactMap(\.name))
  }

  private var usableApprovalsSocket: GateConfiguration.ApprovalsSocket? {
    let names = ["APPROVALS_SOCKET", "APPROVALS_GROUP", "SOCKET_GROUP", "APPROVAL_OPERATORS"]
    let isUsable = names.allSatisfy { isValid($0) && !unusable.contains($0) }
    return isUsable && configuration.devices.areOn ? configuration.devices.approvalsSocket : nil
  }

  private var usableAdmin: GateConfiguration.Admin {
    func isUsable(_ name: String) -> Bool { isValid(name) && !unusable.contains(name) }
    guard ["ADMIN_LISTEN", "ADMIN_TOKENS_PATH", "ATTESTED_KEYS_PATH"].allSatisfy(isUsable) else {
      return GateConfiguration.Admin()
    }
    var admin = configuration.admin
    if !isUsable("ADMIN_SOCKET_GROUP") || !isUsable("SOCKET_GROUP") { admin.socketGroup = nil }
    if !isUsable("ADMIN_OPERATORS") { admin.operators = [] }
    return admin
  }

  private func usableAndroid(_ path: (String) -> String?) -> GateConfiguration.Devices.Android {
    guard configuration.devices.areOn else { return GateConfiguration.Devices.Android() }
    var android = configuration.devices.android
    android.rootsPath = path("ANDROID_ROOTS_PATH")
    android.revocationPath = path("ANDROID_REVOCATION_PATH")
    android.playKeysPath = path("PLAY_INTEGRITY_KEYS_PATH")
    return android
  }

  private var pseudonymKeyPath: String? {
    // Where it is not stated, it follows from the store's.
    let names = ["DEVICE_PSEUDONYM_KEY_PATH", "ATTESTED_KEYS_PATH"]
    let deciding = stated[names[0]] == nil ? names[1] : names[0]
    return isValid(deciding) && !unusable.contains(deciding) ? configuration.store.pseudonymKeyPath : nil
  }

  /// Those that are good each by itself, whatever else is wrong.
  var usableFiles: GateFiles {
    func path(_ name: String) -> String? {
      guard isValid(name), !unusable.contains(name) else { return nil }
      return stated[name]?.text ?? SettingTable.setting(named: name)?.defaultText
    }
    return GateFiles(
      isProduction: configuration.isProduction, isUserKnown: isValid("RUN_AS"), runAs: configuration.runAs,
      certificatePath: path("TLS_CERT_PATH"), keyPath: path("TLS_KEY_PATH"),
      clientCAPath: configuration.mtls.fallback ? path("MTLS_CLIENT_CA_PATH") : nil,
      rootPath: path("APPATTEST_ROOT_CA_PATH"), receiptsPath: path("RECEIPTS_PATH"),
      storePath: path("ATTESTED_KEYS_PATH"), pseudonymKeyPath: pseudonymKeyPath,
      controlSocketPath: path("CONTROL_SOCKET"), nextKeyPath: path("TLS_NEXT_KEY_PATH"),
      devicesPath: path("DEVICES_PATH"), approvalPolicyPath: path("APPROVAL_POLICY"),
      assurancePolicyPath: path("ASSURANCE_POLICY"), riskPolicyPath: path("RISK_POLICY"),
      geoPath: path("GEO_PATH"),
      countriesPath: path("GEO_PATH") == nil ? path("GEO_COUNTRY_PATH") : configuration.devices.countriesPath,
      networksPath: path("GEO_PATH") == nil ? path("GEO_ASN_PATH") : configuration.devices.networksPath,
      approvalsSocket: usableApprovalsSocket,
      android: usableAndroid(path), admin: usableAdmin)
  }

  // MARK: - Values

  private mutating func checkValues() {
    let limits = configuration.limits
    if isValid("PING_INTERVAL", "PONG_TIMEOUT"), limits.pingInterval >= limits.pongTimeout {
      report(
        "PONG_TIMEOUT", "is not longer than PING_INTERVAL (\(durationText(limits.pingInterval)))",
        "write a longer one, such as three intervals, so that a ping can be answered in time")
    }
    if configuration.proxies.requiresProxyProtocol, configuration.proxies.trusted.isEmpty,
      isValid("TRUSTED_PROXIES", "LISTEN_PROXY_PROTOCOL")
    {
      report(
        "LISTEN_PROXY_PROTOCOL", "would let nobody in, since TRUSTED_PROXIES is not set",
        "set TRUSTED_PROXIES to the addresses of the load balancers")
    }
    let pair = ["APPATTEST_TEAM_ID", "APPATTEST_BUNDLE_ID"]
    if stated["APPATTEST_APP_IDS"] != nil {
      for name in pair where stated[name] != nil {
        report(name, "is set beside APPATTEST_APP_IDS", "keep one of the two ways to name the app")
      }
    } else if let name = pair.first(where: { stated[$0] != nil }),
      let other = pair.first(where: { stated[$0] == nil })
    {
      report(name, "is set without \(other)", "set \(other) as well")
    }
    let files = ["TLS_CERT_PATH", "TLS_KEY_PATH"]
    if let name = files.first(where: { stated[$0] != nil }),
      let other = files.first(where: { stated[$0] == nil })
    {
      report(name, "is set without \(other)", "set \(other) as well")
    }
    checkDeviceValues()
    checkAdminValues()
    checkSocketGroup()
  }

  private mutating func checkSocketGroup() {
    let isAdmin =
      configuration.admin.listen?.path != nil
      || configuration.admin.isOn && !configuration.admin.operators.isEmpty
    guard stated["SOCKET_GROUP"] != nil, stated["APPROVALS_SOCKET"] == nil, !isAdmin, isValid("ADMIN_LISTEN")
    else { return }
    report(
      "SOCKET_GROUP",
      "is set, but there is no socket for it: APPROVALS_SOCKET, ADMIN_LISTEN or ADMIN_OPERATORS",
      "set one of them, or remove it")
  }

  private mutating func checkProduction() {
    guard configuration.isProduction else { return }
    if !configuration.requiresAppAuth, isValid("REQUIRE_APP_AUTH") {
      report("REQUIRE_APP_AUTH", "is refused in production", "remove it: everybody could come in")
    }
    if configuration.backend.target == .echo, isValid("BACKEND") {
      report("BACKEND", "is refused in production", "name the game server as host:port or unix:/path")
    }
    if stated["TLS_CERT_PATH"] == nil, stated["TLS_KEY_PATH"] == nil {
      for (name, what) in [("TLS_CERT_PATH", "certificate chain"), ("TLS_KEY_PATH", "private key")] {
        report(name, "is not set, but needed in production", "set it to the file of the server's \(what)")
      }
    }
  }

  private mutating func checkAppIDs() {
    let names = ["APPATTEST_APP_IDS", "APPATTEST_TEAM_ID", "APPATTEST_BUNDLE_ID"]
    guard names.allSatisfy({ stated[$0] == nil }), configuration.requiresAppAuth,
      isValid("REQUIRE_APP_AUTH")
    else { return }
    // Devices come in by keys of their own: there may be none of Apple's among them.
    if let level = configuration.devices.playLevel, level == .bare || stated["ANDROID_APPS"] != nil { return }
    report(
      "APPATTEST_APP_IDS", "is not set, but needed to know the app",
      "set it to TEAMID.bundle.identifier, or set APPATTEST_TEAM_ID and APPATTEST_BUNDLE_ID; a gate for Android alone "
        + "has ANDROID_APPS and GATE_DEVICES")
  }

  private mutating func checkFallback() {
    guard configuration.mtls.fallback, stated["MTLS_CLIENT_CA_PATH"] == nil else { return }
    report(
      "ALLOW_MTLS_FALLBACK", "needs MTLS_CLIENT_CA_PATH, which is not set",
      "set it to the certificate authority of the client certificates (portcullis dev-certs makes one)")
  }

  // MARK: - Files

  private mutating func checkFiles(_ files: any ConfigurationFiles) {
    var readable = ["TLS_CERT_PATH", "TLS_KEY_PATH", "APPATTEST_ROOT_CA_PATH"]
    // A file that production ignores need not be there.
    if configuration.mtls.fallback { readable.append("MTLS_CLIENT_CA_PATH") }
    for name in readable {
      guard isValid(name), let path = stated[name]?.text else { continue }
      checkReadable(name, path, "name a file in PEM", files)
    }
    if isValid("RECEIPTS_PATH"), let path = configuration.attest.receiptsPath {
      switch files.kind(of: path) {
      case nil: report("RECEIPTS_PATH", "names a directory that does not exist", "create it (mode 0700)")
      case .directory where files.isWritable(path): break
      case .directory:
        report(
          "RECEIPTS_PATH", "names a directory that may not be written", "let the gate's user write to it")
      case .file, .other: report("RECEIPTS_PATH", "does not name a directory", "name a directory")
      }
    }
    if isValid("DEVICE_PSEUDONYM_KEY_PATH"), let path = configuration.stated.pseudonymKeyPath {
      checkPseudonymKey(path, files)
    }
    for (name, path) in [
      ("ATTESTED_KEYS_PATH", configuration.store.path), ("CONTROL_SOCKET", configuration.controlSocketPath),
    ] where isValid(name) {
      checkPlace(of: name, path, files)
    }
    checkDeviceFiles(files)
    checkAdminFiles(files)
  }

  /// - Parameter missing: what to do where there is no such file.
  mutating func checkReadable(
    _ name: String, _ path: String, _ remedy: String, _ files: any ConfigurationFiles,
    missing: String = "create it or correct the path"
  ) {
    switch files.kind(of: path) {
    case nil: report(name, "names a file that does not exist", missing)
    case .file where files.isReadable(path): break
    case .file: report(name, "names a file that may not be read", "let the gate's user read it")
    case .directory, .other: report(name, "does not name a file", remedy)
    }
  }

  /// Made by the gate where it is missing, and only read where it is there.
  private mutating func checkPseudonymKey(_ path: String, _ files: any ConfigurationFiles) {
    let name = "DEVICE_PSEUDONYM_KEY_PATH"
    switch files.kind(of: path) {
    case nil: checkPlace(of: name, path, files)
    case .file where files.isReadable(path): break
    case .file: report(name, "names a file that may not be read", "let the gate's user read it")
    case .directory, .other: report(name, "does not name a file", "name a file for the key")
    }
  }

  /// The file itself is made by the gate; its directory must be there.
  mutating func checkPlace(of name: String, _ path: String, _ files: any ConfigurationFiles) {
    let directory = parent(of: path)
    switch files.kind(of: directory) {
    case nil: report(name, "lies in a directory that does not exist", "create \(quoted(directory))")
    case .directory where files.isWritable(directory): break
    case .directory:
      report(
        name, "lies in a directory that may not be written",
        "let the gate's user write to \(quoted(directory))")
    case .file, .other: report(name, "lies in what is no directory", "name a file in a directory")
    }
    if files.kind(of: path) == .directory { report(name, "names a directory", "name a file in it") }
  }

  // MARK: - Warnings

  private mutating func warnOfEnvironment() {
    if let text = stated["NODE_ENV"]?.text, isValid("NODE_ENV"), !configuration.isProduction,
      !GateConfiguration.environments.contains(GateConfiguration.normalized(text))
    {
      warnings.append(.unknownEnvironment(name: "NODE_ENV", shownValue: quoted(text)))
    }
    guard configuration.isEnvironmentUnset else { return }
    let fallback = configuration.mtls.fallback ? "true: client certificates admit" : "false"
    let required = configuration.requiresAppAuth ? "true" : "false: everybody may come in"
    let target = configuration.backend.target == .echo ? "echo:, no game at all" : "not so here"
    let certificate = stated["TLS_CERT_PATH"] == nil ? "in use" : "not so here"
    let root =
      configuration.attest.rootPath == nil ? "not so here" : "\(quoted(configuration.attest.rootPath ?? ""))"
    warnings.append(
      .environmentUnset(relaxed: [
        "ALLOW_MTLS_FALLBACK counts (\(fallback))", "REQUIRE_APP_AUTH may be false (\(required))",
        "BACKEND may be echo: (\(target))",
        "a self-signed certificate stands in for TLS_CERT_PATH (\(certificate))",
        "APPATTEST_ROOT_CA_PATH may name any root (\(root))",
      ]))
  }

  private mutating func warnOfConnections(descriptorLimit: Int) {
    let wanted = configuration.stated.maximumConnections ?? Limits.defaultConnections
    let limits = configuration.limits
    let detached = configuration.sessions.canBeDetached ? configuration.stated.maximumDetached : 0
    let needed = Limits.descriptors(connections: wanted, detached: detached)
    if limits.connections < wanted {
      warnings.append(
        .connectionsReduced(
          from: wanted, to: limits.connections, descriptorLimit: descriptorLimit, needed: needed))
    } else if limits.detached < detached, stated["MAX_DETACHED"] != nil {
      warnings.append(
        .detachedReduced(
          from: detached, to: limits.detached, descriptorLimit: descriptorLimit, needed: needed))
    }
  }

  // MARK: - Helpers

  func isValid(_ names: String...) -> Bool { names.allSatisfy { !invalid.contains($0) } }

  mutating func report(_ name: String, _ reason: String, _ remedy: String) {
    let setting = SettingTable.setting(named: name)
    let text = stated[name]?.text ?? setting?.defaultText
    problems.append(
      ConfigurationProblem(
        name: name, shownValue: text.flatMap { shown($0, isSecret: setting?.isSecret ?? false) },
        place: places[name] ?? nil, reason: reason, remedy: remedy))
  }
}

/// The directory that `path` lies in.
func parent(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
