/// What an approval takes (docs/policies.md): all matching rules together, and what the service asked for
/// beyond them.
package import DeviceWire

package struct ApprovalTerms: Equatable, Sendable {
  package var factors: ApprovalFactors
  package var level: Level
  package var userVerification: UserVerification
  /// Of devices; of subjects where they have to be distinct.
  package var quorum: Int
  package var needsDistinctSubjects: Bool
  /// Whether a device whose subject is the requester's id may not vote.
  package var barsRequester: Bool
  /// How many digits the phone has to send along; none where it is 0.
  package var matchDigits: Int
  package var needsPresence: Bool
  /// How long the request is open.
  package var seconds: Int
  /// What an approval gives; nil where none was asked for.
  package var lease: LeaseTerms?
  package var approvers: Approvers

  package init(
    factors: ApprovalFactors, level: Level, userVerification: UserVerification, quorum: Int,
    needsDistinctSubjects: Bool, barsRequester: Bool, matchDigits: Int, needsPresence: Bool, seconds: Int,
    lease: LeaseTerms?, approvers: Approvers
  ) {
    self.factors = factors
    self.level = level
    self.userVerification = userVerification
    self.quorum = quorum
    self.needsDistinctSubjects = needsDistinctSubjects
    self.barsRequester = barsRequester
    self.matchDigits = matchDigits
    self.needsPresence = needsPresence
    self.seconds = seconds
    self.lease = lease
    self.approvers = approvers
  }
}

/// For how long, and how often, an approved operation may be done.
package struct LeaseTerms: Equatable, Sendable {
  package var seconds: Int
  package var uses: Int

  package init(seconds: Int, uses: Int) {
    self.seconds = seconds
    self.uses = uses
  }

  /// What both allow.
  package func least(_ other: LeaseTerms) -> LeaseTerms {
    LeaseTerms(seconds: min(seconds, other.seconds), uses: min(uses, other.uses))
  }
}

/// Who has to agree: devices of approvers, an operator at the host, or both.
package struct ApprovalFactors: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let device = ApprovalFactors(rawValue: 1)
  package static let `operator` = ApprovalFactors(rawValue: 2)

  static let all: [(word: String, factor: ApprovalFactors)] = [("device", .device), ("operator", .operator)]

  /// As a policy and a summary name them, in this order.
  package var words: [String] { Self.all.filter { contains($0.factor) }.map(\.word) }

  /// Nil unless each is one of the words.
  package init?(words: [String]) {
    self = []
    for word in words {
      guard let known = Self.all.first(where: { $0.word == word }) else { return nil }
      insert(known.factor)
    }
  }
}

/// Whose devices may vote.
package struct Approvers: Equatable, Sendable {
  /// Of each list one pattern has to match. Without lists it is the request's own subject who approves.
  package let lists: [[Glob]]

  package init(lists: [[Glob]]) {
    self.lists = lists
  }

  package var areStated: Bool { !lists.isEmpty }

  /// Whether `name` may approve what concerns `subject`.
  package func admit(_ name: String, subject: String?) -> Bool {
    let name = Array(name.utf8)
    guard areStated else { return subject.map { Array($0.utf8) == name } ?? false }
    return lists.allSatisfy { list in list.contains { $0.matches(name) } }
  }

  /// Patterns of which one matches each approver: those of the list that says most of how the names begin.
  package var narrowest: [Glob] {
    lists.max { Self.leastPrefix($0) < Self.leastPrefix($1) } ?? []
  }

  private static func leastPrefix(_ list: [Glob]) -> Int { list.map(\.prefix.count).min() ?? 0 }

  /// Names among which all approvers are, where some list has no star in it: who looks for them looks up these.
  package var candidates: [String]? {
    let literal = lists.compactMap { list in
      let names = list.compactMap(\.literal)
      return names.count == list.count ? names : nil
    }
    return literal.min { $0.count < $1.count }?.map { String(decoding: $0, as: UTF8.self) }
  }
}
