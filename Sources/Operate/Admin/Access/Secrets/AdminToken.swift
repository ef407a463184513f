/// What a program shows to be let in, and the list of them that is kept (docs/console.md, "Tokens").
package import Bytes
internal import System
package import Time

package struct AdminToken: Equatable, Sendable {
  /// The actor in the audit.
  package let name: String
  package let scopes: Set<AdminActor.Scope>
  package let createdAt: UnixTime
  package let expiresAt: UnixTime
  let hash: Bytes32

  package init(
    name: String, scopes: Set<AdminActor.Scope>, createdAt: UnixTime, expiresAt: UnixTime, hash: Bytes32
  ) {
    self.name = name
    self.scopes = scopes
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.hash = hash
  }

  package func isGood(_ now: UnixTime) -> Bool { now < expiresAt }

  /// Tells scanners of repositories and logs what they have found; the secret follows.
  package static let prefix = "portcullis_"

  /// Of what a peer shows; nil where it has not the form of one.
  package static func hash(of text: some StringProtocol) -> Bytes32? {
    guard text.utf8.starts(with: prefix.utf8) else { return nil }
    return AccessSecret.hash(of: text.dropFirst(prefix.count))
  }

  /// At most a year: a token that nobody remembers ends by itself.
  package static let longestLife: Duration = .seconds(366 * 86_400)

  /// It stands in logs, in the audit, and as an argument of commands.
  package static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: ".") else {
      return false
    }
    return text.utf8.count <= 64
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}

/// All tokens, in the order in which they were made.
package struct AdminTokens: Equatable, Sendable {
  /// Nobody has so many programs; a script that makes one an hour is stopped.
  package static let limit = 256

  package internal(set) var tokens: [AdminToken] = []

  package init() {}

  package enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
    case badName
    case nameTaken
    case noScope
    case badTime
    case tooMany

    package var description: String {
      switch self {
      case .badName: "a token's name has 1 to 64 letters, digits, _, - and ., and begins with none of - and ."
      case .nameTaken: "there is a token or an operator of this name: revoke it first, or take another name"
      case .noScope: "a token has at least one of the scopes metrics, read and write"
      case .badTime: "a token ends in the future, and within 366 days"
      case .tooMany: "there are \(AdminTokens.limit) tokens: revoke some first"
      }
    }
  }

  /// One that has ended gives its name to the next.
  package mutating func add(_ token: AdminToken, now: UnixTime) throws(Problem) {
    guard AdminToken.isName(token.name) else { throw .badName }
    guard !token.scopes.isEmpty else { throw .noScope }
    guard now < token.expiresAt,
      token.expiresAt.milliseconds - now.milliseconds <= AdminToken.longestLife.wholeMilliseconds
    else { throw .badTime }
    if tokens.contains(where: { $0.name == token.name && $0.isGood(now) }) { throw .nameTaken }
    tokens.removeAll { $0.name == token.name }
    guard tokens.count < Self.limit else { throw .tooMany }
    tokens.append(token)
  }

  /// The token that has this hash, in time that tells nothing of the others; nil where it has ended.
  package func find(_ hash: Bytes32, now: UnixTime) -> AdminToken? {
    var found: AdminToken?
    for token in tokens where token.hash.equalsInConstantTime(hash) && token.isGood(now) { found = token }
    return found
  }

  /// - Returns: how many there were.
  package mutating func remove(where isMeant: (String) -> Bool) -> Int {
    let count = tokens.count
    tokens.removeAll { isMeant($0.name) }
    return count - tokens.count
  }
}
