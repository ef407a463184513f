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
    limits.connections = min(
      stated.maximumConnections ?? Limits.defaultConnections,
      Limits.connections(forDescriptors: descriptorLimit))
  }

  /// Without blanks at the ends and in lower case: a stray blank must not open production up.
  static func normalized(_ environment: String) -> String { trimmed(environment).lowercased() }
}
