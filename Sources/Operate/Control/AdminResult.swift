/// What comes of orders about the console, as JSON: never a secret but the one that was just made.
package import Admin
package import JSON
package import Time

package enum AdminResult {
  package static let unknown = ControlRefusal(.unknownObject, "there is no such user, token or session")

  package static func link(base: String, path: String, user: String, seconds: Duration) -> JSONValue {
    object([
      ("base", .string(base)), ("path", .string(path)), ("user", .string(user)),
      ("seconds", .number(JSONNumber(seconds.components.seconds))),
    ])
  }

  package static func token(_ token: AdminToken, secret: String) -> JSONValue {
    object([("token", .string(secret))] + members(token))
  }

  package static func revoked(_ revoked: AdminAccess.Revoked) -> JSONValue {
    object([
      ("links", .number(JSONNumber(Int64(revoked.links)))),
      ("sessions", .number(JSONNumber(Int64(revoked.sessions)))),
      ("tokens", .number(JSONNumber(Int64(revoked.tokens)))),
    ])
  }

  package static func listing(_ listing: AdminAccess.Listing) -> JSONValue {
    object([
      (
        "links",
        .array(
          listing.links.map { link in
            object([
              ("user", .string(link.user)), ("madeAt", .string(link.madeAt.timestamp)),
              ("secondsLeft", .number(JSONNumber(link.timeLeft(listing.now).components.seconds))),
            ])
          })
      ),
      (
        "sessions",
        .array(
          listing.sessions.map { session in
            object([
              ("session", .number(JSONNumber(Int64(clamping: session.number)))),
              ("user", .string(session.user)), ("startedAt", .string(session.startedAt.timestamp)),
              ("lastUsedAt", .string(session.lastUsedAt.timestamp)),
            ])
          })
      ),
      ("tokens", tokens(listing.tokens, now: listing.time)),
    ])
  }

  /// Where no gate runs: nobody is signed in.
  package static func listing(_ tokens: AdminTokens, now: UnixTime) -> JSONValue {
    object([
      ("links", .array([])), ("sessions", .array([])), ("tokens", self.tokens(tokens.tokens, now: now)),
    ])
  }

  /// Nil where one is none.
  package static func scopes(_ words: [String]) -> Set<AdminActor.Scope>? {
    let scopes = words.compactMap { AdminActor.Scope(rawValue: $0) }
    return scopes.count == words.count ? Set(scopes) : nil
  }

  private static func tokens(_ tokens: [AdminToken], now: UnixTime) -> JSONValue {
    .array(tokens.map { object(members($0) + [("expired", .boolean(!$0.isGood(now)))]) })
  }

  private static func members(_ token: AdminToken) -> [(name: String, value: JSONValue)] {
    let scopes = AdminActor.Scope.allCases.filter(token.scopes.contains)
    return [
      ("name", .string(token.name)), ("scopes", .array(scopes.map { .string($0.rawValue) })),
      ("createdAt", .string(token.createdAt.timestamp)), ("expiresAt", .string(token.expiresAt.timestamp)),
    ]
  }

  private static func object(_ members: [(name: String, value: JSONValue)]) -> JSONValue {
    .object(JSONObject(members))
  }
}
