/// What an approver is shown and signs: who asks for which operation on what, under which policy, as canonical JSON.

/// Read from the bytes that are signed, and nothing besides.
public struct Summary: Sendable {
  /// What is to be done, by the service's word for it.
  public let operation: String
  /// What it is done to.
  public let target: Target
  /// The service's own words.
  public let text: String
  /// Who asks for it.
  public let requester: Requester
  /// Through which service.
  public let service: String
  /// Whose phones are asked.
  public let subject: String?
  /// What it takes to approve.
  public let policy: Policy
  /// Nil where the approval is good for once.
  public let lease: Lease?
  /// When it was asked.
  public let createdAt: UnixSeconds
  /// The bytes that the phone gets.
  public let bytes: [UInt8]

  /// What the operation is about: names with texts.
  public struct Target: Equatable, Sendable {
    package let object: CanonicalObject

    package init(_ members: [(name: String, value: String)]) throws(CanonicalJSONError) {
      object = try CanonicalObject(members.map { CanonicalObject.Member($0.name, .string($0.value)) })
    }

    /// Nil where a member is no string.
    package init?(_ object: CanonicalObject) {
      guard object.members.allSatisfy({ $0.value.string != nil }) else { return nil }
      self.object = object
    }

    /// In the order of their names.
    public var members: [(name: String, value: String)] {
      object.members.compactMap { member in member.value.string.map { (member.name, $0) } }
    }

    /// Of the member with exactly these bytes for its name.
    public subscript(name: String) -> String? { object[name]?.string }
  }

  /// Who asks.
  public struct Requester: Sendable {
    /// As the service knows it.
    public let id: String
    /// As it is called there.
    public let name: String?
    /// Where it comes from.
    public let address: String?

    package init(id: String, name: String? = nil, address: String? = nil) {
      self.id = id
      self.name = name
      self.address = address
    }
  }

  /// What it takes to approve.
  public struct Policy: Sendable {
    /// What has to vouch for the phone, at least.
    public let level: Level
    /// How far a person has to have been there, at least.
    public let userVerification: UserVerification
    /// How many have to approve.
    public let quorum: Int64
    /// `device`, `operator`.
    public let factors: [String]

    package init(level: Level, userVerification: UserVerification, quorum: Int64, factors: [String]) {
      self.level = level
      self.userVerification = userVerification
      self.quorum = quorum
      self.factors = factors
    }
  }

  /// For how long, and how often, the approval may be used.
  public struct Lease: Equatable, Sendable {
    /// For how long.
    public let seconds: Int64
    /// How often.
    public let uses: Int64

    package init(seconds: Int64, uses: Int64) {
      self.seconds = seconds
      self.uses = uses
    }
  }

  /// SHA-256 of the bytes: what an `approval` message names.
  public var digest: Octets32 { SHA2.hash(bytes) }

  package init(
    operation: String, target: Target, text: String, requester: Requester, service: String, subject: String?,
    policy: Policy, lease: Lease?, createdAt: UnixSeconds
  ) throws(CanonicalJSONError) {
    var members: [CanonicalObject.Member] = [
      .init(Name.v, .integer(1)), .init(Name.operation, .string(operation)),
      .init(Name.target, .object(target.object)), .init(Name.text, .string(text)),
      .init(Name.requester, .object(try requester.object())), .init(Name.service, .string(service)),
      .init(Name.policy, .object(try policy.object())), .init(Name.createdAt, .integer(createdAt.value)),
    ]
    if let subject { members.append(.init(Name.subject, .string(subject))) }
    if let lease { members.append(.init(Name.lease, .object(try lease.object()))) }
    try self.init(try CanonicalObject(members))
  }

  /// From any spelling of it; `bytes` are the canonical form.
  package init(parsing bytes: [UInt8]) throws(CanonicalJSONError) {
    try self.init(try CanonicalObject(parsing: bytes))
  }

  /// From the canonical form alone.
  public init(canonical bytes: [UInt8]) throws(CanonicalJSONError) {
    try self.init(parsing: bytes)
    guard bytes == self.bytes else { throw .canonical }
  }

  private init(_ object: CanonicalObject) throws(CanonicalJSONError) {
    guard
      object.hasMembers(
        [
          Name.v, Name.operation, Name.target, Name.text, Name.requester, Name.service, Name.policy,
          Name.createdAt,
        ], optional: [Name.subject, Name.lease]),
      object[Name.v]?.integer == 1, let operation = object[Name.operation]?.name,
      let target = object[Name.target]?.object.flatMap({ Target($0) }),
      let text = object[Name.text]?.string,
      let requester = object[Name.requester]?.object.flatMap({ Requester($0) }),
      let service = object[Name.service]?.name,
      let policy = object[Name.policy]?.object.flatMap({ Policy($0) }),
      let createdAt = object[Name.createdAt]?.integer.flatMap({ UnixSeconds($0) })
    else { throw .members }
    let subject = object[Name.subject]?.name
    let lease = object[Name.lease]?.object.flatMap { Lease($0) }
    // An optional member that is there is also good.
    guard (subject == nil) == (object[Name.subject] == nil), (lease == nil) == (object[Name.lease] == nil)
    else { throw .members }
    let bytes = object.bytes
    guard bytes.count <= CanonicalObject.sizeLimit else { throw .size }
    self.operation = operation
    self.target = target
    self.text = text
    self.requester = requester
    self.service = service
    self.subject = subject
    self.policy = policy
    self.lease = lease
    self.createdAt = createdAt
    self.bytes = bytes
  }
}

extension Summary: Equatable {
  /// As bytes.
  public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
}
