/// What happens around signing in, as lines of the log (docs/logs.md, "Logs"): names, never secrets.
import Admin
import Logging

extension AdminAccessEvent {
  func write(to logger: Logger) {
    switch self {
    case .linkMade(let user): logger.notice("admin_link_made", metadata: ["actor": "\(user)"])
    case .signedIn(let user, let session):
      logger.notice("admin_signed_in", metadata: ["actor": "\(user)", "session": "\(session)"])
    case .signedOut(let user, let session):
      logger.notice("admin_signed_out", metadata: ["actor": "\(user)", "session": "\(session)"])
    case .tokenMade(let name, let user):
      logger.notice("admin_token_made", metadata: ["actor": "\(user)", "token": "\(name)"])
    case .revoked(let revoked, let user):
      logger.notice(
        "admin_revoked",
        metadata: [
          "actor": "\(user)", "links": "\(revoked.links)", "sessions": "\(revoked.sessions)",
          "tokens": "\(revoked.tokens)",
        ])
    case .tokensUnwritten(let error):
      logger.error(
        "admin_tokens_not_written",
        metadata: ["reason": "\(error)", "result": "a restart would let revoked tokens in again"])
    }
  }
}
