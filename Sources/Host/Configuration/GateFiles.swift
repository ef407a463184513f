/// The user, files and folders that a configuration names, for whoever looks at more of them than that they are there.
package struct GateFiles: Sendable, Equatable {
  package internal(set) var isProduction = false
  /// False where `RUN_AS` is no user and group, and so nothing can be said of whom the gate would be.
  package internal(set) var isUserKnown = true
  package internal(set) var runAs: GateConfiguration.RunAs?
  package internal(set) var certificatePath: String?
  package internal(set) var keyPath: String?
  /// Nil as well while no client certificate admits.
  package internal(set) var clientCAPath: String?
  /// Nil for Apple's root.
  package internal(set) var rootPath: String?
  package internal(set) var receiptsPath: String?
  /// Never nil of a whole configuration, as are the next two.
  package internal(set) var storePath: String?
  package internal(set) var pseudonymKeyPath: String?
  package internal(set) var controlSocketPath: String?
  package internal(set) var minimumTLSVersion = GateConfiguration.TLSVersion.tls12
  package internal(set) var nextKeyPath: String?
  /// Nil where there are no devices, as are all that follow.
  package internal(set) var devicesPath: String?
  package internal(set) var approvalPolicyPath: String?
  package internal(set) var assurancePolicyPath: String?
  package internal(set) var riskPolicyPath: String?
  /// The folder that holds the two that follow; nil where each is named by itself.
  package internal(set) var geoPath: String?
  package internal(set) var countriesPath: String?
  package internal(set) var networksPath: String?
  package internal(set) var approvalsSocket: GateConfiguration.ApprovalsSocket?
  /// Paths alone are looked at; all nil where there are no devices.
  package internal(set) var android = GateConfiguration.Devices.Android()
  /// Its socket, its file of tokens, and the users and the group that it names; off where it is.
  package internal(set) var admin = GateConfiguration.Admin()

  /// Which setting has named the databases of where addresses are, and whose.
  package var countriesSetting: String { geoPath == nil ? "GEO_COUNTRY_PATH" : "GEO_PATH" }
  package var networksSetting: String { geoPath == nil ? "GEO_ASN_PATH" : "GEO_PATH" }
}

extension GateConfiguration {
  package var files: GateFiles {
    GateFiles(
      isProduction: isProduction, runAs: runAs, certificatePath: tls?.certificatePath, keyPath: tls?.keyPath,
      clientCAPath: mtls.fallback ? mtls.clientCAPath : nil, rootPath: attest.rootPath,
      receiptsPath: attest.receiptsPath, storePath: store.path, pseudonymKeyPath: store.pseudonymKeyPath,
      controlSocketPath: controlSocketPath, minimumTLSVersion: minimumTLSVersion,
      nextKeyPath: devices.nextKeyPath, devicesPath: devices.path,
      approvalPolicyPath: devices.areOn ? devices.approvalPolicyPath : nil,
      assurancePolicyPath: devices.areOn ? devices.assurancePolicyPath : nil,
      riskPolicyPath: devices.areOn ? devices.riskPolicyPath : nil,
      geoPath: devices.areOn ? stated.geoPath : nil,
      countriesPath: devices.areOn ? devices.countriesPath : nil,
      networksPath: devices.areOn ? devices.networksPath : nil,
      approvalsSocket: devices.areOn ? devices.approvalsSocket : nil,
      android: devices.areOn ? devices.android : Devices.Android(),
      admin: admin)
  }
}
