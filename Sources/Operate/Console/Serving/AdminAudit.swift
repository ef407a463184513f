/// Who signs in to the console, and who makes and revokes its tokens, in the audit where there is one (docs/devices-operating.md,
/// "The audit"): names and what came of it, never secrets.
import Admin
import Assembly
import Control
import Logging
import PortcullisProtocol
import Registry

/// Told on threads that wait for nothing, the admin listener's among them.
final class AdminAudit: Sendable {
  private let registry: Registry
  private let operators: AdminOperators
  private let logger: Logger

  init(_ registry: Registry, _ operators: AdminOperators, _ logger: Logger) {
    self.registry = registry
    self.operators = operators
    self.logger = logger
  }

  func note(_ event: AdminAccessEvent) {
    guard let (row, members, user) = event.audited else { return }
    let origin = user.map { Origin.console(name: $0, user: operators.number(of: $0)) } ?? .gate
    let logger = logger
    // Somebody is signed in, or a token made, whether the disk can take the row or not: the log says that it lacks.
    let lack: @Sendable (String) -> Void = { code in
      logger.error("admin_not_audited", metadata: ["action": "\(row.word)", "reason": "\(code)"])
    }
    let handle = registry.submit(NoteOperatorAction(row, members), lane: .host, origin: origin) { reply in
      if case .refused(let refusal) = reply { lack(refusal.code.rawValue) }
    }
    if handle == nil { lack("overloaded") }
  }
}

extension AdminAccessEvent {
  /// Whose doing it is, where it is somebody's.
  fileprivate var audited: (event: AuditEntry.Event, members: [AuditEntry.Member], by: String?)? {
    switch self {
    case .linkMade, .signedOut: nil
    case .signedIn(let user, let session):
      (.adminSignedIn, [.number("session", Int64(clamping: session))], user)
    case .tokenMade(let name, let user): (.adminTokenMade, [.word("token", name)], user)
    case .revoked(let revoked, let user):
      (
        .adminRevoked,
        [
          .number("links", Int64(revoked.links)), .number("sessions", Int64(revoked.sessions)),
          .number("tokens", Int64(revoked.tokens)),
        ], user
      )
    case .tokensUnwritten: (.adminTokensNotWritten, [], nil)
    }
  }
}
