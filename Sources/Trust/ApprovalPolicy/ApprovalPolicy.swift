/// The approval policy (docs/policies.md): from a request to what its approval takes, or to a refusal.
internal import DeviceWire

package struct ApprovalPolicy: Equatable, Sendable {
  package let rules: [ApprovalRule]
  /// DEFAULT.
  let fallback: ApprovalDemands?

  package var hasDefault: Bool { fallback != nil }

  /// What takes phones that nothing vouches for, as problems name it: a service that pairs phones can play one itself.
  package var placesForBarePhones: [String] {
    let places = rules.enumerated().map { ("rule \($0.offset + 1)", $0.element.demands) }
    let all = places + (fallback.map { [("DEFAULT", $0)] } ?? [])
    return all.filter { $0.1.takesBarePhones }.map(\.0)
  }

  /// Refuses everything: what a gate without a policy has.
  package static let none = ApprovalPolicy(rules: [], fallback: nil)

  init(rules: [ApprovalRule], fallback: ApprovalDemands?) {
    self.rules = rules
    self.fallback = fallback
  }

  /// - Throws: what is `policy_refused`.
  package func terms(
    for request: ApprovalQuestion, asked: AskedTerms = AskedTerms()
  ) throws(PolicyRefusal) -> ApprovalTerms {
    let demands = demands(on: request)
    if demands.isEmpty { throw .noRule }
    var lease: LeaseTerms?
    if let asked = asked.lease {
      guard let greatest = Self.lease(demands) else { throw .noLease }
      lease = asked.least(greatest)
    }
    return Self.together(demands, lease: lease).raised(by: asked)
  }

  /// Of the rules that match, and of DEFAULT where `defaultHolds` for them.
  func demands(on request: ApprovalQuestion) -> [ApprovalDemands] {
    let matching = rules.filter { $0.match.difference(from: request) == nil }
    let fallback = Self.defaultHolds(beside: matching, request) ? fallback : nil
    return matching.map(\.demands) + [fallback].compactMap(\.self)
  }

  /// Where no rule matches; and where those that do are only there because the request lacks what they name: else leaving
  /// out a member would lead from DEFAULT to a rule that asks for less.
  static func defaultHolds(beside matching: [ApprovalRule], _ request: ApprovalQuestion) -> Bool {
    matching.allSatisfy { !$0.match.absent(in: request).isEmpty }
  }

  /// The least of those that give one; a rule that gives none does not take away another's.
  static func lease(_ demands: [ApprovalDemands]) -> LeaseTerms? {
    demands.compactMap(\.lease).reduce(nil) { sum, lease in sum?.least(lease) ?? lease }
  }

  /// - Parameter demands: at least one; each holds as it would alone, with the defaults where it says nothing.
  static func together(_ demands: [ApprovalDemands], lease: LeaseTerms?) -> ApprovalTerms {
    var factors: ApprovalFactors = []
    for demand in demands { factors.formUnion(demand.factors ?? ApprovalBounds.defaultFactors) }
    let digits = demands.map { $0.digits(withLease: lease != nil) }.max() ?? 0
    return ApprovalTerms(
      factors: factors,
      level: demands.map { $0.level ?? ApprovalBounds.defaultLevel }.max() ?? .hardwareAttested,
      userVerification: demands.map {
        $0.userVerification ?? ApprovalBounds.defaultUserVerification
      }.max() ?? .hardware,
      quorum: demands.map { $0.quorum ?? ApprovalBounds.defaultQuorum }.max() ?? ApprovalBounds.defaultQuorum,
      needsDistinctSubjects: demands.contains { $0.distinctSubjects ?? false },
      barsRequester: demands.contains { $0.barsRequester ?? ApprovalBounds.defaultBarsRequester },
      matchDigits: digits,
      needsPresence: demands.contains { $0.presence ?? false },
      seconds: demands.map { $0.seconds ?? ApprovalBounds.defaultSeconds }.min() ?? 0,
      lease: lease,
      approvers: Approvers(lists: demands.compactMap(\.approvers)))
  }
}

extension ApprovalDemands {
  /// A lease is worth guessing more: it lasts.
  func digits(withLease hasLease: Bool) -> Int {
    matchDigits ?? (hasLease ? ApprovalBounds.defaultDigitsWithLease : ApprovalBounds.defaultDigits)
  }
}

extension ApprovalTerms {
  /// A service may ask for more, never for less.
  fileprivate func raised(by asked: AskedTerms) -> ApprovalTerms {
    var terms = self
    terms.level = max(level, asked.level ?? level)
    terms.userVerification = max(userVerification, asked.userVerification ?? userVerification)
    terms.quorum = max(quorum, asked.quorum ?? quorum)
    terms.matchDigits = max(matchDigits, asked.matchDigits ?? matchDigits)
    // The digits are for a phone.
    if !factors.contains(.device) { terms.matchDigits = 0 }
    return terms
  }
}

/// Why a policy does not let a request be asked: `policy_refused`.
package enum PolicyRefusal: Error, Equatable, Sendable {
  /// No rule matches, and there is no DEFAULT.
  case noRule
  /// A lease was asked for, and nothing that matches gives one.
  case noLease
}
