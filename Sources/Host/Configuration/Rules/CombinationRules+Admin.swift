/// What the settings of the admin listener mean together: it takes no other's place, and others reach it by TLS alone.
internal import Addresses

extension CombinationRules {
  private static let needingAdmin = [
    "ADMIN_SOCKET_GROUP", "ADMIN_OPERATORS", "ADMIN_HOSTS", "ADMIN_TOKENS_PATH",
  ]

  mutating func checkAdminValues() {
    guard isValid("ADMIN_LISTEN") else { return }
    guard let address = configuration.admin.listen else {
      for name in Self.needingAdmin where stated[name] != nil {
        report(
          name, "is set without ADMIN_LISTEN",
          "set ADMIN_LISTEN as well, such as 127.0.0.1:8444, or remove it")
      }
      return
    }
    switch address {
    case .tcp(let endpoint): checkAdminEndpoint(endpoint, isExposed: address.isExposed)
    case .unix(let path): checkAdminSocket(path)
    }
    if isValid("ADMIN_TOKENS_PATH", "ATTESTED_KEYS_PATH", "DEVICES_PATH"),
      [configuration.store.path, configuration.devices.path].contains(configuration.admin.tokensPath)
    {
      report("ADMIN_TOKENS_PATH", "is a file of the gate's already", "name another file")
    }
  }

  private mutating func checkAdminEndpoint(_ endpoint: Endpoint, isExposed: Bool) {
    // Operators reach the control socket by it.
    if stated["ADMIN_SOCKET_GROUP"] != nil, configuration.admin.operators.isEmpty {
      report(
        "ADMIN_SOCKET_GROUP", "is set, but ADMIN_LISTEN is no UNIX socket, and there are no ADMIN_OPERATORS",
        "write ADMIN_LISTEN=unix:/path/to/socket, set ADMIN_OPERATORS, or remove it")
    }
    if isExposed, stated["TLS_CERT_PATH"] == nil || stated["TLS_KEY_PATH"] == nil {
      report(
        "ADMIN_LISTEN", "can be reached by others, and there is no certificate for it",
        "set TLS_CERT_PATH and TLS_KEY_PATH, or listen on 127.0.0.1, [::1] or a UNIX socket")
    }
    guard isValid("LISTEN"), let taken = configuration.listen.first(where: { Self.clash($0, endpoint) })
    else { return }
    report("ADMIN_LISTEN", "takes the place of LISTEN (\(taken))", "write another port")
  }

  private mutating func checkAdminSocket(_ path: String) {
    var taken = [("CONTROL_SOCKET", configuration.controlSocketPath)]
    if let path = configuration.devices.approvalsSocket.path { taken.append(("APPROVALS_SOCKET", path)) }
    if case .unix(let path) = configuration.backend.target { taken.append(("BACKEND", path)) }
    if let other = taken.first(where: { isValid($0.0) && $0.1 == path }) {
      report("ADMIN_LISTEN", "is the socket of \(other.0)", "name another one")
    }
  }

  mutating func checkAdminFiles(_ files: any ConfigurationFiles) {
    let admin = configuration.admin
    guard isValid("ADMIN_LISTEN"), let address = admin.listen else { return }
    if let path = address.path { checkPlace(of: "ADMIN_LISTEN", path, files) }
    guard isValid("ADMIN_TOKENS_PATH", "ATTESTED_KEYS_PATH") else { return }
    // That of the store has been looked at with the store.
    if stated["ADMIN_TOKENS_PATH"] != nil { checkPlace(of: "ADMIN_TOKENS_PATH", admin.tokensPath, files) }
    if files.kind(of: admin.tokensPath) == .file, files.isOthersToWrite(admin.tokensPath) {
      report(
        "ADMIN_TOKENS_PATH", "names a file that other users may write, and so make tokens",
        "chmod go-w \(quoted(admin.tokensPath))")
    }
  }

  /// Whether both cannot be bound; where the kernel chooses a port it chooses a free one.
  private static func clash(_ one: Endpoint, _ other: Endpoint) -> Bool {
    guard one.port == other.port, one.port != 0, one.address.family == other.address.family else {
      return false
    }
    return one.address == other.address || one.address.isUnspecified || other.address.isUnspecified
  }
}
