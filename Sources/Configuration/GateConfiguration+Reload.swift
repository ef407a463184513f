/// What a changed configuration means for a running gate (SPEC §10, SIGHUP).
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
    let changed = SettingTable.settings.filter { !$0.isEqual(self, new) }
    return ReloadDifferences(
      applicable: changed.filter(\.isReloadable).map(\.name),
      needRestart: changed.filter { !$0.isReloadable }.map(\.name))
  }

  /// This configuration with everything from `new` that can change at run time; the rest stays as it is.
  package func reloading(from new: GateConfiguration) -> GateConfiguration {
    var result = self
    for setting in SettingTable.settings where setting.isReloadable { setting.copy(new, &result) }
    // What is computed from reloadable settings follows; it was computed for the same machine.
    result.limits.connections = new.limits.connections
    result.tls = new.tls
    return result
  }
}
