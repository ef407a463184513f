/// What an approver is shown and signs: who asks for which operation on what, under which policy, as canonical JSON.
package import Bytes
internal import Crypto

package struct Summary: Sendable {
  package let operation: String
  package let target: Target
  /// The service's own words.
  package let text: String
  package let requester: Requester
  package let service: String
  package let subject: String?
  package let policy: Policy
  package let lease: Lease?
  package let createdAt: UnixSeconds
  /// The bytes that the phone gets.
  package let bytes: [UInt8]

  /// What the operation is about: names with texts.
  package struct Target: Equatable, Sendable {
    package let object: CanonicalObject

    package init(_ members: [(name: String, value: String)]) throws(CanonicalJSONError) {
      object = try CanonicalObject(members.map { CanonicalObject.Member($0.name, .string($0.value)) })
    }

    /// Nil where a member is no string.
    package init?(_ object: CanonicalObject) {
      guard object.members.allSatisfy({ $0.value.string != nil }) else { return nil }
      self.object = object
    }

    package var members: [(name: String, value: String)] {
      object.members.compactMap { member in member.value.string.map { (member.name, $0) } }
    }

    /// Of the member with exactly these bytes for its name.
    package subscript(name: String) -> String? { object[name]?.string }
  }

  package struct Requester: Sendable {
    package let id: String
    package let name: String?
    package let address: String?

    package init(id: String, name: String? = nil, address: String? = nil) {
      self.id = id
      self.name = name
      self.address = address
    }
  }

  /// What it takes to approve.
  package struct Policy: Sendable {
    package let level: Level
    package let userVerification: UserVerification
    package let quorum: Int64
    package let factors: [String]

    package init(level: Level, userVerification: UserVerification, quorum: Int64, factors: [String]) {
      self.level = level
      self.userVerification = userVerification
      self.quorum = quorum
      self.factors = factors
    }
  }

  /// For how long, and how often, the approval may be used.
  package struct Lease: Equatable, Sendable {
    package let seconds: Int64
    package let uses: Int64

    package init(seconds: Int64, uses: Int64) {
      self.seconds = seconds
      self.uses = uses
    }
  }

  /// SHA-256 of the bytes: what an `approval` message names.
  package var hash: Bytes32 { SHA256.hash(bytes.span) }

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
  package init(parsing bytes: Span<UInt8>) throws(CanonicalJSONError) {
    try self.init(try CanonicalObject(parsing: bytes))
  }

  /// From the canonical form alone.
  package init(canonical bytes: Span<UInt8>) throws(CanonicalJSONError) {
    try self.init(parsing: bytes)
    guard bytes.isEqual(to: self.bytes) else { throw .canonical }
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
  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
}
