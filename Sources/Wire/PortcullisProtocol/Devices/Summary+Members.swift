/// The members of a summary's objects, both ways.

extension Summary {
  enum Name {
    static let v = "v"
    static let operation = "operation"
    static let target = "target"
    static let text = "text"
    static let requester = "requester"
    static let service = "service"
    static let subject = "subject"
    static let policy = "policy"
    static let lease = "lease"
    static let createdAt = "created_at"
    static let id = "id"
    static let name = "name"
    static let address = "address"
    static let level = "level"
    static let userVerification = "uv"
    static let quorum = "quorum"
    static let factors = "factors"
    static let seconds = "ttl_s"
    static let uses = "uses"
  }
}

extension Summary.Requester {
  typealias Name = Summary.Name

  init?(_ object: CanonicalObject) {
    guard object.hasMembers([Name.id], optional: [Name.name, Name.address]), let id = object[Name.id]?.name,
      [Name.name, Name.address].allSatisfy({ object[$0] == nil || object[$0]?.string != nil })
    else { return nil }
    self.init(id: id, name: object[Name.name]?.string, address: object[Name.address]?.string)
  }

  func object() throws(CanonicalJSONError) -> CanonicalObject {
    var members = [CanonicalObject.Member(Name.id, .string(id))]
    if let name { members.append(.init(Name.name, .string(name))) }
    if let address { members.append(.init(Name.address, .string(address))) }
    return try CanonicalObject(members)
  }
}

extension Summary.Policy {
  typealias Name = Summary.Name

  init?(_ object: CanonicalObject) {
    guard object.hasMembers([Name.level, Name.userVerification, Name.quorum, Name.factors]),
      let level = object[Name.level]?.string.flatMap(Level.init(rawValue:)),
      let userVerification = object[Name.userVerification]?.string.flatMap(UserVerification.init(rawValue:)),
      let quorum = object[Name.quorum]?.count, let factors = object[Name.factors]?.strings, !factors.isEmpty,
      !factors.contains(""), Set(factors.map { Array($0.utf8) }).count == factors.count
    else { return nil }
    self.init(level: level, userVerification: userVerification, quorum: quorum, factors: factors)
  }

  func object() throws(CanonicalJSONError) -> CanonicalObject {
    try CanonicalObject([
      .init(Name.level, .string(level.rawValue)),
      .init(Name.userVerification, .string(userVerification.rawValue)),
      .init(Name.quorum, .integer(quorum)), .init(Name.factors, .strings(factors)),
    ])
  }
}

extension Summary.Lease {
  typealias Name = Summary.Name

  init?(_ object: CanonicalObject) {
    guard object.hasMembers([Name.seconds, Name.uses]), let seconds = object[Name.seconds]?.count,
      let uses = object[Name.uses]?.count
    else { return nil }
    self.init(seconds: seconds, uses: uses)
  }

  func object() throws(CanonicalJSONError) -> CanonicalObject {
    try CanonicalObject([.init(Name.seconds, .integer(seconds)), .init(Name.uses, .integer(uses))])
  }
}

extension CanonicalObject {
  /// Whether all of the first are there, and nothing that is in neither list.
  func hasMembers(_ required: [String], optional: [String] = []) -> Bool {
    let isKnown = members.allSatisfy { member in
      (required + optional).contains { $0.isSameText(as: member.name) }
    }
    return isKnown && required.allSatisfy { self[$0] != nil }
  }
}

extension CanonicalValue {
  /// 1 to 128 bytes: what policies match and people are named by.
  var name: String? { string.flatMap { (1...128).contains($0.utf8.count) ? $0 : nil } }

  /// At least 1.
  var count: Int64? { integer.flatMap { $0 >= 1 ? $0 : nil } }
}
