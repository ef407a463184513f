/// What a changed configuration means for a running gate (docs/running.md, "Reloading").
package struct ReloadDifferences: Sendable, Equatable {
  /// Names of changed settings that `reloading(from:)` takes over.
  package let applicable: [String]
  /// Names of changed settings that keep their old value until the next start.
  package let needRestart: [String]

  package var isEmpty: Bool { applicable.isEmpty && needRestart.isEmpty }
}

extension GateConfiguration {
  /// By value, so that `30s` and `30000ms` are no change; in the order of the table.
  package func reloadDifferences(to new: GateConfiguration) -> ReloadDifferences {
    let result = reloading(from: new)
    let changed = SettingTable.settings.filter { !$0.isEqual(self, new) }
    return ReloadDifferences(
      applicable: changed.filter { $0.isEqual(result, new) }.map(\.name),
      needRestart: changed.filter { !$0.isEqual(result, new) }.map(\.name))
  }

  /// This configuration with everything from `new` that can change at run time; the rest stays as it is.
  ///
  /// Paths that what stays cannot do without are not taken away: production keeps its certificate, and the
  /// fallback its authority, though the new file, at the next start, would do without both.
  package func reloading(from new: GateConfiguration) -> GateConfiguration {
    var result = self
    for setting in SettingTable.settings where setting.isReloadable { setting.copy(new, &result) }
    // What is computed from reloadable settings follows, for the same machine.
    result.stated.descriptorLimit = new.stated.descriptorLimit
    result.resolveLimits()
    result.devices.countriesPath = new.devices.countriesPath
    result.devices.networksPath = new.devices.networksPath
    result.tls = new.tls
    if isProduction, new.tls == nil {
      result.tls = tls
      result.stated.certificatePath = stated.certificatePath
      result.stated.keyPath = stated.keyPath
    }
    if mtls.fallback, new.mtls.clientCAPath == nil { result.mtls.clientCAPath = mtls.clientCAPath }
    return result
  }
}
