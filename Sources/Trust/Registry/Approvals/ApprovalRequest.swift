/// What a service, or a program of the host, asks an approval for: the body of `POST /approvals` (docs/approvals.md,
/// "Requests").
package import ApprovalPolicy
internal import Bytes
internal import Crypto
package import DeviceWire
internal import JSON
internal import Time

package struct ApprovalRequest: Sendable {
  package let operation: String
  package let target: Summary.Target
  package let text: String
  package let subject: Subject?
  package let requester: Summary.Requester
  package let asked: AskedTerms
  package let idempotencyKey: String?

  package init(form: Form) throws(FormError) {
    operation = try form.text("operation", Self.name)
    target = try form.required("target", Self.target)
    text = try form.text("text") { $0 }
    subject = try form.optionalText("subject") { Subject($0) }
    requester = try form.required("requester", Self.requester)
    asked = try Self.asked(form)
    idempotencyKey = try form.optionalText("idempotency_key", Self.name)
    try check()
  }

  /// For a user of the host, who is known by his number, and by the name of his account.
  init(
    operation: String, target: Summary.Target, text: String, subject: Subject?, user: UInt32, name: String?
  ) throws(FormError) {
    guard let operation = Self.name(operation) else { throw FormError("operation") }
    self.operation = operation
    self.target = target
    self.text = text
    self.subject = subject
    requester = Summary.Requester(id: "uid:\(user)", name: name)
    asked = AskedTerms()
    idempotencyKey = nil
    try check()
  }

  /// What phones are shown and sign.
  func summary(
    service: ServiceName, terms: ApprovalTerms, at time: UnixSeconds
  ) throws(CanonicalJSONError) -> Summary {
    try Summary(
      operation: operation, target: target, text: text, requester: requester, service: service.text,
      subject: subject?.name,
      policy: Summary.Policy(
        level: terms.level, userVerification: terms.userVerification, quorum: Int64(terms.quorum),
        factors: terms.factors.words),
      lease: terms.lease.map { Summary.Lease(seconds: Int64($0.seconds), uses: Int64($0.uses)) },
      createdAt: time)
  }

  /// The same for requests that ask for the same, in whatever order their members come.
  var hash: Bytes32? {
    guard let plain = try? plain() else { return nil }
    return SHA256.hash((plain.bytes + Array(" \(asked.matchDigits ?? 0)".utf8)).span)
  }

  /// Whether it can be shown at all.
  private func check() throws(FormError) {
    for (member, text) in shown where !ShownText.isClean(text) {
      throw FormError("summary_character", of: member)
    }
    do throws(CanonicalJSONError) {
      _ = try plain()
    } catch {
      throw FormError("summary_\(error.rawValue)")
    }
  }

  /// What a phone shows of it, each text with its member.
  private var shown: [(member: String, text: String)] {
    let texts = [
      ("operation", operation), ("text", text), ("requester", requester.id),
      ("requester", requester.name ?? ""), ("requester", requester.address ?? ""),
    ]
    return texts + target.members.flatMap { [("target", $0.name), ("target", $0.value)] }
  }

  /// With what it asks for in the place of what a policy will make of it.
  private func plain() throws(CanonicalJSONError) -> Summary {
    let terms = ApprovalTerms(
      factors: .device, level: asked.level ?? .bare, userVerification: asked.userVerification ?? .none,
      quorum: asked.quorum ?? 1, needsDistinctSubjects: false, barsRequester: false, matchDigits: 0,
      needsPresence: false, seconds: 1, lease: asked.lease, approvers: Approvers(lists: []))
    // As long as any service's name.
    return try summary(service: .longest, terms: terms, at: UnixSeconds(UnixTime(milliseconds: 0)))
  }
}

/// Its members.
extension ApprovalRequest {
  static func name(_ text: String) -> String? {
    (1...128).contains(text.utf8.count) && ShownText.isClean(text) ? text : nil
  }

  /// Nil unless it is an object of strings.
  static func target(_ value: JSONValue) -> Summary.Target? {
    guard let object = value.object else { return nil }
    var members: [(name: String, value: String)] = []
    for member in object.members {
      guard let text = member.value.string else { return nil }
      members.append((member.name, text))
    }
    return try? Summary.Target(members)
  }

  private static func requester(_ value: JSONValue) -> Summary.Requester? {
    guard let object = value.object, let id = object["id"]?.string.flatMap(name) else { return nil }
    for member in ["name", "address"] where object[member] != nil && object[member]?.string == nil {
      return nil
    }
    return Summary.Requester(id: id, name: object["name"]?.string, address: object["address"]?.string)
  }

  private static func asked(_ form: Form) throws(FormError) -> AskedTerms {
    var asked = try form.optional("policy", policy) ?? AskedTerms()
    asked.lease = try form.optional("lease", lease)
    return asked
  }

  private static func policy(_ value: JSONValue) -> AskedTerms? {
    guard let object = value.object else { return nil }
    let level = object["level"].map { $0.string.flatMap { Level(rawValue: $0) } }
    let verification = object["uv"].map { $0.string.flatMap { UserVerification(rawValue: $0) } }
    let quorum = object["quorum"].map { $0.integer.flatMap { Int(exactly: $0) } }
    let digits = object["match_digits"].map { $0.integer.flatMap { Int(exactly: $0) } }
    // A member that is there and has no meaning.
    if level == .some(nil) || verification == .some(nil) || quorum == .some(nil) || digits == .some(nil) {
      return nil
    }
    if let quorum = quorum ?? nil, !ApprovalBounds.quorum.contains(quorum) { return nil }
    if let digits = digits ?? nil, !ApprovalBounds.allowsDigits(digits) { return nil }
    return AskedTerms(
      level: level ?? nil, userVerification: verification ?? nil, quorum: quorum ?? nil,
      matchDigits: digits ?? nil)
  }

  /// As long and as often as is wanted; a policy has the last word.
  private static func lease(_ value: JSONValue) -> LeaseTerms? {
    guard let object = value.object, let seconds = object["ttl_s"]?.integer.flatMap({ Int32(exactly: $0) }),
      let uses = object["uses"]?.integer.flatMap({ Int32(exactly: $0) }), seconds >= 1, uses >= 1
    else { return nil }
    return LeaseTerms(seconds: Int(seconds), uses: Int(uses))
  }
}
