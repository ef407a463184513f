/// Values that several settings, or settings and the machine, decide together.
internal import Identity

extension GateConfiguration {
  mutating func resolve(processors: Int, descriptorLimit: Int) {
    let environments = [stated.nodeEnvironment, stated.gateEnvironment].compactMap(\.self)
    isEnvironmentUnset = environments.isEmpty
    isProduction = environments.contains { Self.normalized($0) == "production" }
    mtls.fallback = stated.allowsFallback && !isProduction
    attest.appIDs = stated.appIDs ?? []
    if stated.appIDs == nil, let teamID = stated.teamID, let bundleID = stated.bundleID,
      let appID = AppID(teamID: teamID, bundleID: bundleID)
    {
      attest.appIDs = [appID]
    }
    tls = nil
    if let certificatePath = stated.certificatePath, let keyPath = stated.keyPath {
      tls = ServerCertificateFiles(certificatePath: certificatePath, keyPath: keyPath)
    }
    workers = stated.workers ?? min(max(processors, 1), 256)
    store.pseudonymKeyPath = stated.pseudonymKeyPath ?? beside(store.path, "device-pseudonym.key")
    admin.tokensPath = stated.adminTokensPath ?? beside(store.path, "admin-tokens.json")
    devices.approvalsSocket.group = stated.approvalsGroup ?? stated.socketGroup
    if stated.approvalsGroup != nil { devices.approvalsSocket.groupSetting = "APPROVALS_GROUP" }
    admin.socketGroup = stated.adminSocketGroup ?? stated.socketGroup
    if stated.adminSocketGroup != nil { admin.groupSetting = "ADMIN_SOCKET_GROUP" }
    devices.countriesPath = stated.countriesPath
    devices.networksPath = stated.networksPath
    stated.descriptorLimit = descriptorLimit
    resolveLimits()
  }

  /// Former names of a timeout go before the one that replaces them. What descriptors there are goes to sessions without a connection, a quarter at most, and then to connections.
  mutating func resolveLimits() {
    limits.httpHeadTimeout = stated.httpHeadTimeout ?? stated.httpTimeout
    limits.httpBodyTimeout = stated.httpBodyTimeout ?? stated.httpTimeout
    limits.httpIdleTimeout = stated.httpIdleTimeout ?? stated.httpTimeout * 3
    let limit = stated.descriptorLimit
    limits.detached =
      sessions.canBeDetached ? min(stated.maximumDetached, Limits.detached(forDescriptors: limit)) : 0
    limits.connections = min(
      stated.maximumConnections ?? Limits.defaultConnections,
      Limits.connections(forDescriptors: limit, detached: limits.detached))
  }

  /// What `PORTCULLIS_ENV` may say. Only the first means anything.
  static let environments = ["production", "development", "test", "staging"]

  /// Without blanks at the ends and in lower case: a stray blank must not open production up.
  static func normalized(_ environment: String) -> String { trimmed(environment).lowercased() }
}

/// A file in the directory that `path` lies in.
func beside(_ path: String, _ name: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return name }
  return path[...slash] + name
}
