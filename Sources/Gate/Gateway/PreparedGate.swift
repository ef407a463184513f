/// A gate between its making, which may take privileges, and its threads.
internal import Admission
package import AppAttest
package import Configuration
internal import TLS
internal import Upstream

/// A gate that has bound its addresses and serves nobody yet.
package final class PreparedGate {
  let configuration: GateConfiguration
  let parts: Gate.Parts
  let settings: LoopSettings
  let tickets: TicketKeys
  let listeners: Listeners
  let backends: BackendDirectory
  /// Nil where no session outlives the process.
  let kept: KeptStart?

  init(
    _ configuration: GateConfiguration, _ parts: Gate.Parts, _ settings: LoopSettings, _ tickets: TicketKeys,
    _ listeners: Listeners, _ kept: KeptStart?
  ) {
    self.kept = kept
    self.configuration = configuration
    self.parts = parts
    self.settings = settings
    self.tickets = tickets
    self.listeners = listeners
    backends = BackendDirectory(target: configuration.backend.target)
  }

  /// Starts the threads, and serves from then on; to be called once.
  package func start() throws(GateError) -> Gate {
    try Gate.assemble(self)
  }
}

extension GateConfiguration {
  /// What attestations and assertions are judged by.
  package var attestationPolicy: AttestationPolicy {
    AttestationPolicy(
      apps: attest.appIDs, environments: attest.environments,
      launch: LaunchPolicy(
        allowedCategories: attest.allowedCategories,
        allowedBundleVersions: attest.allowedBundleVersions.map { $0.sorted() },
        requiresLaunchInformation: attest.requiresLaunchInfo))
  }
}
