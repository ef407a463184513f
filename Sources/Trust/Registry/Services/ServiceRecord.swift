/// A service as the store keeps it: who may ask the registry for what (docs/approvals.md, "Services").
package import ApprovalPolicy
package import Bytes
internal import System
package import Time

package struct ServiceRecord: Equatable, Sendable {
  package let id: ServiceID
  package let name: ServiceName
  /// SHA-256 of the token that was shown once.
  package var tokenHash: Bytes32
  package let scopes: ServiceScopes
  /// Where it runs, in the operator's words.
  package let site: String?
  /// The subjects that it may name.
  package let subjects: Glob
  package let createdAt: UnixTime
  package var rotatedAt: UnixTime?
  package var revokedAt: UnixTime?

  package init(
    id: ServiceID, name: ServiceName, tokenHash: Bytes32, scopes: ServiceScopes, site: String?,
    subjects: Glob,
    createdAt: UnixTime
  ) {
    self.id = id
    self.name = name
    self.tokenHash = tokenHash
    self.scopes = scopes
    self.site = site
    self.subjects = subjects
    self.createdAt = createdAt
  }

  package func mayName(_ subject: Subject) -> Bool { subjects.matches(Array(subject.name.utf8)) }
}

/// What a service is called, by operators and on phones: 1 to 64 letters, digits, `.`, `_` and `-`. One at a time has it.
package struct ServiceName: Hashable, Sendable, CustomStringConvertible {
  package let text: String

  package init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isPlain) else { return nil }
    self.text = text
  }

  private init(checked text: String) {
    self.text = text
  }

  package var description: String { text }

  /// Stands for programs of the host in what phones show; no service has it.
  package static let host = ServiceName(checked: "host")

  /// As long as a name may be.
  static let longest = ServiceName(checked: String(repeating: "x", count: 64))

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// What a service may ask for.
package struct ServiceScopes: OptionSet, Hashable, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  package static let approvals = ServiceScopes(rawValue: 1)
  package static let codes = ServiceScopes(rawValue: 2)
  package static let presence = ServiceScopes(rawValue: 4)
  package static let pairings = ServiceScopes(rawValue: 8)
  package static let devicesRead = ServiceScopes(rawValue: 16)

  private static let all: [(word: String, scope: ServiceScopes)] = [
    ("approvals", .approvals), ("codes", .codes), ("presence", .presence), ("pairings", .pairings),
    ("devices.read", .devicesRead),
  ]

  package var words: [String] { Self.all.filter { contains($0.scope) }.map(\.word) }

  /// Nil unless it is at least one of the words, and no other.
  package init?(words: [String]) {
    self = []
    for word in words {
      guard let known = Self.all.first(where: { $0.word == word }) else { return nil }
      insert(known.scope)
    }
    if isEmpty { return nil }
  }
}
