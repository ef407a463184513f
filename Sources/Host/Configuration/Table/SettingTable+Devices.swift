/// The settings of devices, services and approvals; without `DEVICES_PATH` there is nothing of them.
extension SettingTable {
  static let devices: [Setting] = registry + levels + android + approvals + risk + pins

  private static let registry: [Setting] = [
    Setting(
      "DEVICES_PATH", .path, optional: \.devices.path, otherwise: "no devices", in: .devices,
      "The file of devices, services and approvals, a database with its journal beside it; off, as most gates only "
        + "guard a door."),
    Setting(
      "PUBLIC_URL", .publicURL, optional: \.devices.publicURL,
      otherwise: "no devices; required with DEVICES_PATH",
      in: .devices,
      "Under which name apps reach the gate: the issuer of device tokens, and what the QR code of a pairing names."
    ),
    Setting(
      "DEVICES_RETENTION", .duration(.seconds(86_400)...Duration.seconds(3650 * 86_400)), \.devices.retention,
      default: "30d", in: .devices, isReloadable: true,
      "How long ended approvals, pairings and codes and a phone's last position are kept: to ask about them, not for ever."
    ),
    Setting(
      "DEVICE_APPROVAL", .choice, \.devices.approval, default: "operator", in: .devices, isReloadable: true,
      "Who makes an enrolled device active: an operator who knows its owner, or its evidence alone."),
    Setting(
      "DEVICES_PER_SUBJECT", .count(1...1000), \.devices.perSubject, default: "5", in: .devices,
      isReloadable: true, "Devices of one subject: some phones of one person, and no farm of them."),
    Setting(
      "SERVICE_STORE_PER_DAY", .size(1 << 20...1 << 40), \.devices.serviceBytesPerDay, default: "64MiB",
      in: .devices, isReloadable: true,
      "What one service leaves in the store within a day: 2 KiB for each request, login or pairing, and its text. Some 25,000 "
        + "ordinary ones; a token that is stolen fills no disk."),
    Setting(
      "TOKEN_AUDIENCES", .audiences, \.devices.tokenAudiences, otherwise: "the gate alone", in: .devices,
      isReloadable: true,
      "Other programs that device tokens may be made for; such tokens live five minutes, and the gate takes none."
    ),
    Setting(
      "PRESENCE_MAX_AGE", .duration(.seconds(1)...Duration.seconds(600)), \.devices.presenceMaximumAge,
      default: "60s", in: .devices, isReloadable: true,
      "How long a proof that the phone is near counts: as long as somebody stays at the desk."),
    Setting(
      "OTP_TTL", .duration(.seconds(1)...Duration.seconds(120)), \.devices.codeLife, default: "120s",
      in: .devices, isReloadable: true,
      "How long a one-time code is good: to read it and to type it, and never longer than two minutes."),
    Setting(
      "OTP_ATTEST_MAX_AGE", .duration(.seconds(1)...Duration.seconds(30 * 86_400)),
      \.devices.codeAttestationMaximumAge, default: "10m", in: .devices, isReloadable: true,
      "How old the last attestation of a phone may be that gives a one-time code, where its class says nothing else."
    ),
    Setting(
      "PRESENCE_RSSI_MIN", .strengths, \.devices.presenceStrengths, otherwise: "no strength is asked for",
      in: .devices,
      isReloadable: true,
      "The weakest signal of a phone that is near, in dBm, by the site of a service; * for the other sites. The desktop's "
        + "own word."),
  ]

  private static let levels: [Setting] = [
    Setting(
      "DEVICE_MIN_LEVEL", .choice, \.devices.minimumLevel, default: "bare", in: .devices, isReloadable: true,
      "What must vouch for a device's keys; bare, as an operator vouches for a paired phone, and approvals ask for "
        + "more by themselves."),
    Setting(
      "GATE_DEVICES", .playLevel, \.devices.playLevel, default: "off", in: .devices,
      "From which level on active devices come in to play, without App Attest; off, and bare is refused in "
        + "production."),
    Setting(
      "ASSURANCE_POLICY", .path, optional: \.devices.assurancePolicyPath,
      otherwise: "one class for all, without demands",
      in: .devices, isReloadable: true,
      "A file of classes of subjects, and what is asked of the devices of each; read again at SIGHUP."),
  ]

  private static let approvals: [Setting] = [
    Setting(
      "APPROVAL_POLICY", .path, optional: \.devices.approvalPolicyPath,
      otherwise: "no operation may be asked for",
      in: .devices, isReloadable: true,
      "A file of rules that say whose approval an operation needs; read again at SIGHUP."),
    Setting(
      "APPROVALS_SOCKET", .socketPath, optional: \.devices.approvalsSocket.path,
      otherwise: "approvals are asked for over HTTPS only",
      in: .devices,
      "Where programs of this host ask for approvals, and operators confirm; the kernel tells who they are."),
    Setting(
      "APPROVAL_OPERATORS", .users, \.devices.approvalsSocket.operators, otherwise: "nobody", in: .devices,
      "Users of this host who may confirm what a policy asks an operator for; nobody confirms for himself."),
  ]

  private static let risk: [Setting] = [
    Setting(
      "RISK_POLICY", .path, optional: \.devices.riskPolicyPath,
      otherwise: "reasons are logged, and none counts",
      in: .devices, isReloadable: true,
      "A file of what each reason to doubt a phone counts, and from which sum on it gets no code; read again at SIGHUP."
    ),
    Setting(
      "GEO_PATH", .path, optional: \.stated.geoPath, otherwise: "no address has a country or a network",
      in: .devices, isReloadable: true,
      "A folder with databases in MaxMind's format, kept in memory and read again at SIGHUP. The country that a phone "
        + "states is compared with GeoLite2-Country.mmdb or GeoLite2-City.mmdb; GeoLite2-ASN.mmdb shows a change of "
        + "networks."),
  ]

  private static let pins: [Setting] = [
    Setting(
      "TLS_NEXT_KEY_PATH", .path, optional: \.devices.nextKeyPath, otherwise: "no pin is announced",
      in: .devices,
      isReloadable: true,
      "The key that TLS_KEY_PATH will name next, in PEM: phones learn its pin before it serves."),
    Setting(
      "PINS_FORCE", .boolean, \.devices.pinsAreForced, default: "false", in: .devices, isReloadable: true,
      "Whether a TLS key may serve whose pin was never announced; paired phones would have to be paired anew."
    ),
  ]
}

extension SettingSyntax where Value == PublicURL {
  static let publicURL = SettingSyntax("https://host or https://host:port, in lower case") {
    (text) throws(SettingError) in
    do throws(PublicURL.ParseError) {
      return try PublicURL(parsing: text)
    } catch {
      switch error {
      case .notHTTPS: throw SettingError("is no https URL")
      case .notAnOrigin: throw SettingError("has more than a host and a port")
      case .upperCase: throw SettingError("has capital letters, and is compared byte by byte")
      case .malformedAuthority: throw SettingError("has no host, or no port from 1 to 65535")
      case .defaultPort: throw SettingError("states the port that an https URL has without it")
      }
    }
  }
}

extension SettingSyntax where Value == GateConfiguration.DeviceLevel? {
  static let playLevel = SettingSyntax("off, bare, app_attested or hardware_attested") {
    (text) throws(SettingError) in
    if text == "off" { return nil }
    guard let level = GateConfiguration.DeviceLevel(rawValue: text) else {
      throw SettingError("is none of the choices")
    }
    return level
  }
}
