/// What operators order at the control socket: links, tokens, who has which, and an end to them (docs/console.md,
/// "Signing in").
internal import Bytes
internal import Synchronization
package import System
package import Time

/// For the log.
package enum AdminAccessEvent: Equatable, Sendable {
  case linkMade(user: String)
  case signedIn(user: String, session: UInt64)
  case signedOut(user: String, session: UInt64)
  case tokenMade(name: String, by: String)
  case revoked(AdminAccess.Revoked, by: String)
  /// It holds, and a restart before the file can be written would undo it.
  case tokensUnwritten(SystemError)
}

extension AdminAccess {
  /// The path of a new address to sign in by.
  package func makeLink(for user: String) -> String {
    let secret = AccessSecret(entropy)
    let (now, time) = (clock.monotonic(), clock.wall())
    state.withLock { $0.links.add(secret.hash, for: user, now: now, at: time) }
    tell(.linkMade(user: user))
    return "/sign-in/\(secret.text)"
  }

  package enum TokenFailure: Error, Equatable, Sendable {
    case refused(AdminTokens.Problem)
    /// There is no such token.
    case unwritten(SystemError)
  }

  /// What the program shows: it is in the file before anybody has it.
  package func makeToken(
    named name: String, scopes: Set<AdminActor.Scope>, life: Duration, by user: String
  ) throws(TokenFailure) -> (secret: String, token: AdminToken) {
    let secret = AccessSecret(entropy)
    let token = AdminToken(named: name, secret, scopes: scopes, life: life, now: clock.wall())
    try writing.withLock { (_) throws(TokenFailure) in
      let (former, users) = state.withLock { ($0.tokens, $0.settings.users) }
      guard users[name] == nil else { throw .refused(.nameTaken) }
      var tokens = former
      do throws(AdminTokens.Problem) {
        try tokens.add(token, now: token.createdAt)
      } catch {
        throw .refused(error)
      }
      do throws(SystemError) {
        try file.write(tokens)
      } catch {
        throw .unwritten(error)
      }
      state.withLock { state in
        if state.tokens == former { state.isFileOld = false }
        // To those that are left: what was revoked meanwhile stays so.
        try? state.tokens.add(token, now: token.createdAt)
      }
    }
    tell(.tokenMade(name: name, by: user))
    return (AdminToken.prefix + secret.text, token)
  }

  package enum Selection: Equatable, Sendable {
    /// Of a user or a token.
    case name(String)
    case session(UInt64)
    case all
  }

  package struct Revoked: Equatable, Sendable {
    package var links = 0
    package var sessions = 0
    package var tokens = 0

    package init(links: Int = 0, sessions: Int = 0, tokens: Int = 0) {
      self.links = links
      self.sessions = sessions
      self.tokens = tokens
    }

    package var isNothing: Bool { links + sessions + tokens == 0 }
  }

  /// From now on none of them opens anything, whatever the disk does.
  /// - Returns: and why the file still has some that were revoked, now or before, if it has.
  package func revoke(_ selection: Selection, by user: String) -> (Revoked, SystemError?) {
    let now = clock.monotonic()
    let revoked = state.withLock { state in
      let isNamed = { (name: String) in selection == .all || selection == .name(name) }
      var revoked = Revoked()
      revoked.links = state.links.remove(where: isNamed)
      revoked.sessions = state.sessions.end(now) { isNamed($0.user) || selection == .session($0.number) }
      revoked.tokens = state.tokens.remove(where: isNamed)
      if revoked.tokens > 0 { state.isFileOld = true }
      return revoked
    }
    let failure = renewFile()
    if !revoked.isNothing { tell(.revoked(revoked, by: user)) }
    if let failure { tell(.tokensUnwritten(failure)) }
    return (revoked, failure)
  }

  /// Writes the file where it has what was revoked.
  private func renewFile() -> SystemError? {
    guard state.withLock({ $0.isFileOld }) else { return nil }
    return writing.withLock { _ -> SystemError? in
      // Somebody else may have written it, or revoked more, while this waited.
      let (isOld, tokens) = state.withLock { ($0.isFileOld, $0.tokens) }
      guard isOld else { return nil }
      do throws(SystemError) {
        try file.write(tokens)
      } catch {
        return error
      }
      state.withLock { if $0.tokens == tokens { $0.isFileOld = false } }
      return nil
    }
  }

  package struct Listing: Sendable {
    package let links: [SignInLinks.Link]
    package let sessions: [AdminSessions.Session]
    package let tokens: [AdminToken]
    package let now: MonotonicTime
    package let time: UnixTime
  }

  package func list() -> Listing {
    let (now, time) = (clock.monotonic(), clock.wall())
    return state.withLock { state in
      Listing(
        links: state.links.pending(now), sessions: state.sessions.all(now), tokens: state.tokens.tokens,
        now: now, time: time)
    }
  }

  /// Who is no operator any more is out.
  package func reload(_ settings: Settings) {
    let now = clock.monotonic()
    state.withLock { state in
      state.settings = settings
      _ = state.links.remove { settings.users[$0] == nil }
      _ = state.sessions.end(now) { settings.users[$0.user] == nil }
    }
  }
}

extension AdminToken {
  package init(
    named name: String, _ secret: AccessSecret, scopes: Set<AdminActor.Scope>, life: Duration, now: UnixTime
  ) {
    let end = UnixTime(milliseconds: now.milliseconds + life.wholeMilliseconds)
    self.init(name: name, scopes: scopes, createdAt: now, expiresAt: end, hash: secret.hash)
  }
}
