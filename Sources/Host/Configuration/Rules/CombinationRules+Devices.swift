/// What the settings of devices mean together: nothing is switched on that would then be missing its other half.
extension CombinationRules {
  /// Those with a default are left alone where there are no devices, as a file may state every default.
  private static let needingDevices = [
    "PUBLIC_URL", "TOKEN_AUDIENCES", "PRESENCE_RSSI_MIN", "GATE_DEVICES", "ASSURANCE_POLICY",
    "APPROVAL_POLICY", "APPROVALS_SOCKET", "APPROVALS_GROUP", "APPROVAL_OPERATORS",
    "RISK_POLICY", "GEO_COUNTRY_PATH", "GEO_ASN_PATH",
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
    for (name, path) in [("GEO_COUNTRY_PATH", devices.countriesPath), ("GEO_ASN_PATH", devices.networksPath)]
    where isValid(name) {
      if let path { checkReadable(name, path, "name a file in MaxMind's format", files) }
    }
    checkAndroidFiles(files)
    for (name, path) in [
      ("DEVICES_PATH", devices.path), ("APPROVALS_SOCKET", devices.approvalsSocket.path),
    ] where isValid(name) {
      if let path { checkPlace(of: name, path, files) }
    }
  }
}
