/// Upgrades while the operator has new players play elsewhere (docs/running.md, "Draining").
internal import Admission
internal import PortcullisProtocol
internal import SessionWire
internal import Synchronization

extension Connection {
  /// An app comes in that wants to go on with what lives here; whether it may, its credential says later. Before
  /// anything is used up, so that a challenge of another gate is still good there.
  func refusalWhileDraining(of upgrade: PlayerUpgrade) -> Refusal? {
    guard loop.shared.isDraining.load(ordering: .sequentiallyConsistent) else { return nil }
    if let resume = upgrade.resume, loop.shared.directory.find(SessionIDHash(of: resume.id)) != nil {
      return nil
    }
    return Refusal(.shuttingDown, step: "draining", retryAfter: Self.drainRetryTime)
  }

  /// A load balancer asks for `/healthz` every few seconds; until it has, whoever comes back comes to the same gate.
  private static let drainRetryTime: Duration = .seconds(10)
}
