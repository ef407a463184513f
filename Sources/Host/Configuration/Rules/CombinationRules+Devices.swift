/// What the settings of devices mean together: nothing is switched on that would then be missing its other half.
extension CombinationRules {
  /// Those with a default are left alone where there are no devices, as a file may state every default.
  private static let needingDevices = [
    "PUBLIC_URL", "TOKEN_AUDIENCES", "PRESENCE_RSSI_MIN", "GATE_DEVICES", "ASSURANCE_POLICY",
    "APPROVAL_POLICY", "APPROVALS_SOCKET", "APPROVALS_GROUP", "APPROVAL_OPERATORS",
    "RISK_POLICY", "GEO_PATH", "GEO_COUNTRY_PATH", "GEO_ASN_PATH",
  ]

  mutating func checkDeviceValues() {
    let devices = configuration.devices
    guard stated["DEVICES_PATH"] != nil else {
      for name in Self.needingDevices + Self.androidNeedingDevices where stated[name] != nil {
        if name == "GATE_DEVICES", isValid(name), devices.playLevel == nil { continue }
        report(
          name, "is set without DEVICES_PATH",
          "set DEVICES_PATH as well, which turns devices on, or remove it")
      }
      return
    }
    if stated["PUBLIC_URL"] == nil {
      report(
        "PUBLIC_URL", "is not set, but needed with DEVICES_PATH",
        "set it to the name under which apps reach the gate, such as https://play.example.com")
    }
    if stated["APPROVALS_SOCKET"] == nil {
      for name in ["APPROVALS_GROUP", "APPROVAL_OPERATORS"] where stated[name] != nil {
        report(name, "is set without APPROVALS_SOCKET", "set APPROVALS_SOCKET as well, or remove it")
      }
    }
    if isValid("DEVICES_PATH", "ATTESTED_KEYS_PATH"), devices.path == configuration.store.path {
      report("DEVICES_PATH", "is the file of ATTESTED_KEYS_PATH", "name another file")
    }
    if isValid("APPROVALS_SOCKET", "CONTROL_SOCKET"),
      devices.approvalsSocket.path == configuration.controlSocketPath
    {
      report("APPROVALS_SOCKET", "is the socket of CONTROL_SOCKET", "name another one")
    }
    if stated["GEO_PATH"] != nil {
      for name in ["GEO_COUNTRY_PATH", "GEO_ASN_PATH"] where stated[name] != nil {
        report(name, "is set beside GEO_PATH", "remove it: GEO_PATH names the folder of both")
      }
    }
    checkAndroidValues()
    if configuration.isProduction, devices.playLevel == .bare {
      report(
        "GATE_DEVICES", "is refused in production",
        "write off, app_attested or hardware_attested: nothing vouches for a key of this level")
    }
  }

  mutating func checkDeviceFiles(_ files: any ConfigurationFiles) {
    let devices = configuration.devices
    if isValid("TLS_NEXT_KEY_PATH"), let path = devices.nextKeyPath {
      // The command makes a file only where there is none.
      checkReadable(
        "TLS_NEXT_KEY_PATH", path, "name a file in PEM", files,
        missing:
          "run portcullis pins --make-next with the same settings, which makes the key, or correct the path")
    }
    guard stated["DEVICES_PATH"] != nil else { return }
    for (name, path, decision) in [
      ("ASSURANCE_POLICY", devices.assurancePolicyPath, "who approves"),
      ("APPROVAL_POLICY", devices.approvalPolicyPath, "who approves"),
      ("RISK_POLICY", devices.riskPolicyPath, "who gets codes"),
    ] where isValid(name) {
      guard let path else { continue }
      checkReadable(name, path, "name a file of rules in JSON", files)
      if files.kind(of: path) == .file, files.isOthersToWrite(path) {
        report(
          name, "names a file that other users may write, and so decide \(decision)",
          "chmod go-w \(quoted(path))")
      }
    }
    findGeoDatabases(files)
    for (name, path) in [("GEO_COUNTRY_PATH", devices.countriesPath), ("GEO_ASN_PATH", devices.networksPath)]
    where stated[name] != nil && isValid(name) {
      if let path { checkReadable(name, path, "name a file in MaxMind's format", files) }
    }
    checkAndroidFiles(files)
    for (name, path) in [
      ("DEVICES_PATH", devices.path), ("APPROVALS_SOCKET", devices.approvalsSocket.path),
    ] where isValid(name) {
      if let path { checkPlace(of: name, path, files) }
    }
  }

  /// As geoipupdate writes them; the first that is there counts.
  private static let countryFiles = [
    "GeoLite2-Country.mmdb", "GeoIP2-Country.mmdb", "GeoLite2-City.mmdb", "GeoIP2-City.mmdb",
  ]
  private static let networkFiles = ["GeoLite2-ASN.mmdb"]

  private mutating func findGeoDatabases(_ files: any ConfigurationFiles) {
    guard isValid("GEO_PATH"), let folder = configuration.stated.geoPath else { return }
    let names = "\(Self.countryFiles[0]) and \(Self.networkFiles[0])"
    guard files.kind(of: folder) == .directory else {
      return report("GEO_PATH", "is not a folder", "name the folder that has \(names)")
    }
    func first(_ names: [String]) -> String? {
      names.map { folder + "/" + $0 }.first { files.kind(of: $0) == .file }
    }
    configuration.devices.countriesPath = first(Self.countryFiles)
    configuration.devices.networksPath = first(Self.networkFiles)
    let found = [configuration.devices.countriesPath, configuration.devices.networksPath].compactMap(\.self)
    if found.isEmpty {
      report("GEO_PATH", "names a folder without a database", "put \(names) there, or one of them")
    }
    for path in found where !files.isReadable(path) {
      report("GEO_PATH", "has a file that cannot be read: \(quoted(path))", "let the gate's user read it")
    }
  }
}
