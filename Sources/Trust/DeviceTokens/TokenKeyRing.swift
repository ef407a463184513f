/// Which key signs tokens, which one signed before and which comes next: time moves it, and an operator may.
package import DeviceWire

package struct TokenKeyRing: Sendable {
  package enum Role: String, CaseIterable, Sendable {
    /// Signs no more; what it has signed is still good.
    case previous
    case current
    /// Published, so that whoever keeps the set for a while has it when it signs.
    case next
  }

  package struct Member: Sendable {
    package let role: Role
    package let key: TokenKey
    /// When it got its role.
    package let since: UnixSeconds

    package init(role: Role, key: TokenKey, since: UnixSeconds) {
      self.role = role
      self.key = key
      self.since = since
    }
  }

  /// How long a key signs, in seconds.
  package static let signingTime: Int64 = 30 * 86_400
  /// How long it is published before that. A set may be kept for ten minutes, and some keep it longer than they should.
  package static let noticeTime: Int64 = 86_400
  /// How long it is published afterwards: no token lives that long.
  package static let graceTime: Int64 = 3600

  package private(set) var current: Member
  package private(set) var previous: Member?
  package private(set) var next: Member?

  /// A first key, which signs at once: nobody can have kept a set without it.
  package init(first key: TokenKey, at now: UnixSeconds) {
    current = Member(role: .current, key: key, since: now)
  }

  /// As it was kept; nil unless exactly one member is current, at most one each is anything else, and no key is there
  /// twice.
  package init?(_ members: [Member]) {
    func only(_ role: Role) -> Member?? {
      let found = members.filter { $0.role == role }
      return found.count > 1 ? nil : .some(found.first)
    }
    guard case .some(.some(let current)) = only(.current), let previous = only(.previous),
      let next = only(.next), Set(members.map(\.key.thumbprint)).count == members.count
    else { return nil }
    self.current = current
    self.previous = previous
    self.next = next
  }

  package var members: [Member] { [current] + [next, previous].compactMap { $0 } }

  /// Nil for a key that is not published.
  package func key(identifier: String) -> TokenKey? {
    members.first { $0.key.identifier.isSameText(as: identifier) }?.key
  }

  /// The earliest time at which `advance` does something.
  package var nextChange: UnixSeconds {
    let handover = next.map { max($0.since + Self.noticeTime, current.since + Self.signingTime) }
    let end = previous.map { $0.since + Self.graceTime }
    let change = handover ?? current.since + (Self.signingTime - Self.noticeTime)
    return end.map { min($0, change) } ?? change
  }

  /// Does what is due by `now`, and says whether that was anything: what follows is to be kept before it is used, so
  /// that no key is ever published and then forgotten. After a long sleep it takes more than one call, as a key waits
  /// its day from when it was in fact published.
  package mutating func advance<Failure: Error>(
    to now: UnixSeconds, makeKey: () throws(Failure) -> TokenKey
  ) throws(Failure) -> Bool {
    var hasChanged = false
    if let previous, now >= previous.since + Self.graceTime {
      self.previous = nil
      hasChanged = true
    }
    if let next {
      guard now >= max(next.since + Self.noticeTime, current.since + Self.signingTime) else {
        return hasChanged
      }
      previous = Member(role: .previous, key: current.key, since: now)
      current = Member(role: .current, key: next.key, since: now)
      self.next = nil
      return true
    }
    guard now >= current.since + (Self.signingTime - Self.noticeTime) else { return hasChanged }
    next = Member(role: .next, key: try makeKey(), since: now)
    return true
  }

  /// A key that nobody has seen signs from now on. The one that was to come next never does: whoever has copied the store has
  /// that one, too.
  /// - Parameter endingTokens: what was signed before is good no more; else as long as after any other change.
  package mutating func replace(with key: TokenKey, at now: UnixSeconds, endingTokens: Bool) {
    previous = endingTokens ? nil : Member(role: .previous, key: current.key, since: now)
    current = Member(role: .current, key: key, since: now)
    next = nil
  }

  /// `/.well-known/jwks.json` (RFC 7517 §5).
  package var jwks: [UInt8] {
    Array(#"{"keys":[\#(members.map(\.key.publicJWK).joined(separator: ","))]}"#.utf8)
  }
}
