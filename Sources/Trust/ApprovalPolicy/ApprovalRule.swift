/// One rule of an approval policy: which requests it is about, and what it demands of them (docs/policies.md).
package import DeviceWire

package struct ApprovalRule: Equatable, Sendable {
  package let match: ApprovalMatch
  package let demands: ApprovalDemands
}

/// What a request has to look like for a rule to be about it.
package struct ApprovalMatch: Equatable, Sendable {
  /// Nil: any.
  let operation: Glob?
  let target: [(name: [UInt8], pattern: Glob)]

  package static func == (left: Self, right: Self) -> Bool {
    left.operation == right.operation && left.target.elementsEqual(right.target, by: ==)
  }

  /// A target member that the request lacks is no difference: else leaving it out would be a way around the rule.
  func difference(from request: ApprovalQuestion) -> Difference? {
    if let operation, !operation.matches(request.operation) { return .operation }
    for (name, pattern) in target {
      if let value = request.target[name], !pattern.matches(value) { return .target(name) }
    }
    return nil
  }

  /// Members that it names and the request does not have.
  func absent(in request: ApprovalQuestion) -> [[UInt8]] {
    target.map(\.name).filter { request.target[$0] == nil }
  }

  /// Why a rule is not about a request.
  enum Difference: Equatable, Sendable {
    case operation
    case target([UInt8])
  }
}

/// Of a request what rules look at. As bytes: Swift's strings are equal when only their code points differ.
package struct ApprovalQuestion: Sendable {
  let operation: [UInt8]
  let target: [[UInt8]: [UInt8]]

  init(operation: [UInt8], target: [[UInt8]: [UInt8]]) {
    self.operation = operation
    self.target = target
  }

  /// - Parameter target: names and values; of a name that comes twice the first one counts.
  package init(operation: String, target: some Sequence<(String, String)>) {
    self.operation = Array(operation.utf8)
    self.target = Dictionary(
      target.map { (Array($0.utf8), Array($1.utf8)) }, uniquingKeysWith: { first, _ in first })
  }
}

/// What a rule, or DEFAULT, says; nil where it says nothing.
package struct ApprovalDemands: Equatable, Sendable {
  var approvers: [Glob]?
  var factors: ApprovalFactors?
  var level: Level?
  var userVerification: UserVerification?
  var quorum: Int?
  var distinctSubjects: Bool?
  var barsRequester: Bool?
  var matchDigits: Int?
  var presence: Bool?
  var seconds: Int?
  var lease: LeaseTerms?

  var takesBarePhones: Bool {
    level == .bare && (factors ?? ApprovalBounds.defaultFactors) == .device
  }
}

/// What a service asks for in a request beyond the rules; asking for less changes nothing.
package struct AskedTerms: Equatable, Sendable {
  package var level: Level?
  package var userVerification: UserVerification?
  package var quorum: Int?
  package var matchDigits: Int?
  package var lease: LeaseTerms?

  package init(
    level: Level? = nil, userVerification: UserVerification? = nil, quorum: Int? = nil,
    matchDigits: Int? = nil, lease: LeaseTerms? = nil
  ) {
    self.level = level
    self.userVerification = userVerification
    self.quorum = quorum
    self.matchDigits = matchDigits
    self.lease = lease
  }
}

/// The numbers that a policy may hold, and what holds where it says nothing.
package enum ApprovalBounds {
  package static let quorum = 1...20
  /// A single digit would be guessed by one in ten.
  package static let matchDigits = 2...6
  package static let seconds = 1...300
  package static let leaseSeconds = 1...3600
  package static let leaseUses = 1...100

  static let rules = 1000
  static let list = 1000
  static let target = 64
  static let text = 1...256

  static let defaultFactors: ApprovalFactors = .device
  static let defaultLevel = Level.appAttested
  static let defaultUserVerification = UserVerification.app
  static let defaultQuorum = 1
  static let defaultBarsRequester = true
  static let defaultDigits = 2
  static let defaultDigitsWithLease = 4
  static let defaultSeconds = 300

  package static func allowsDigits(_ count: Int) -> Bool { count == 0 || matchDigits.contains(count) }
}
