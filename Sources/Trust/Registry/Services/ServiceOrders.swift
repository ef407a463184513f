/// What an operator orders about services: `services add`, `rotate`, `revoke`, `list`.
package import ApprovalPolicy
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System
internal import Time

enum ServiceOrders {
  static func name(_ arguments: OrderArguments) throws(FormError) -> ServiceName {
    guard let name = ServiceName(try arguments.text("name")) else { throw FormError("name") }
    return name
  }
}

/// Answers with the token, which nobody sees again.
package struct AddService: RegistryCall {
  package let name: ServiceName
  package let scopes: ServiceScopes
  package let site: String?
  package let subjects: Glob

  init(_ arguments: JSONObject) throws(FormError) {
    let arguments = try OrderArguments(arguments, "name", "scopes", "site", "subjects")
    name = try ServiceOrders.name(arguments)
    if name == .host { throw FormError("name") }
    guard let scopes = ServiceScopes(words: try arguments.texts("scopes")) else { throw FormError("scopes") }
    self.scopes = scopes
    site = try Self.text("site", arguments)
    subjects = Glob(try Self.text("subjects", arguments) ?? "*")
  }

  private static func text(_ name: String, _ arguments: OrderArguments) throws(FormError) -> String? {
    guard let text = try arguments.optionalText(name) else { return nil }
    guard (1...128).contains(text.utf8.count), ShownText.isClean(text) else { throw FormError(name) }
    return text
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try requireName(transaction)
    let token = ServiceToken.make(transaction)
    let service = ServiceRecord(
      id: ServiceID(random: transaction.entropy), name: name, tokenHash: ServiceToken.hash(token),
      scopes: scopes,
      site: site, subjects: subjects, createdAt: transaction.now)
    try transaction.store.insert(service)
    try transaction.record(.serviceAdded, .service(service.id), .word("name", name.text))
    try transaction.announceServices()
    return .reply(.created(service.json(token: token)))
  }
}

extension AddService {
  /// One that nobody takes for another's: phones show it.
  private func requireName(_ transaction: Transaction) throws(CallFailure) {
    let services = try transaction.store.services()
    let alike = services.first { $0.revokedAt == nil && $0.name.text.looksLike(name.text) }
    guard let known = alike?.name.text else { return }
    guard known == name.text else {
      throw .refused(
        RegistryRefusal(
          .badRequest, "service_name_alike",
          says:
            "\(name) looks like \(known), a service that is there already: give it a name that people can tell "
            + "from it"))
    }
    throw .refused(
      RegistryRefusal(
        .badRequest, "service_name_taken",
        says: "there is a service \(known) already: `portcullis services rotate \(known)` gives it a new "
          + "token"))
  }
}

/// The old token is over when the new one is told.
package struct RotateService: RegistryCall {
  package let name: ServiceName

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    guard var service = try transaction.service(named: name) else {
      throw .refused(.notFound, "service_name")
    }
    let token = ServiceToken.make(transaction)
    service.tokenHash = ServiceToken.hash(token)
    service.rotatedAt = transaction.now
    let changed = service
    try transaction.store.update(changed)
    try transaction.record(.serviceRotated, .service(service.id))
    transaction.announce(.desktopEnded(service.id))
    try transaction.announceServices()
    return .reply(.answered(service.json(token: token)))
  }
}

/// Its open requests are cancelled, its leases end.
package struct RevokeService: RegistryCall {
  package let name: ServiceName
  package var urgency: Urgency { .revocation }
  package var revokes: String { "service \(name.text)" }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    guard var service = try transaction.service(named: name) else {
      throw .refused(.notFound, "service_name")
    }
    service.revokedAt = transaction.now
    let changed = service
    try transaction.store.update(changed)
    try transaction.record(.serviceRevoked, .service(service.id))
    try transaction.endApprovals(of: service)
    try transaction.endPairings(of: service.id)
    try transaction.endCodes(of: service.id)
    transaction.announce(.desktopEnded(service.id))
    try transaction.announceServices()
    return .reply(.answered(service.json()))
  }
}

package struct ListServices: RegistryCall {
  init(_: OrderArguments) {}

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let (services, bars) = (
      try transaction.store.services(), try transaction.store.bars().filter { $0.requester == nil }
    )
    var writer = JSONWriter()
    writer.beginArray()
    for service in services {
      service.write(to: &writer, barredFor: bars.count { $0.service == service.id })
    }
    writer.endArray()
    return .reply(.answered(writer.bytes))
  }
}

extension Transaction {
  fileprivate func service(named name: ServiceName) throws(CallFailure) -> ServiceRecord? {
    try store.service(named: name)
  }
}

extension ServiceRecord {
  fileprivate func json(token: String? = nil) -> [UInt8] {
    var writer = JSONWriter()
    write(to: &writer, token: token)
    return writer.bytes
  }

  /// - Parameter count: so many subjects have reported it so often that it may not ask them.
  fileprivate func write(to writer: inout JSONWriter, token: String? = nil, barredFor count: Int = 0) {
    writer.beginObject()
    writer.name("id")
    writer.value(id.text)
    writer.name("name")
    writer.value(name.text)
    if let token {
      writer.name("token")
      writer.value(token)
    }
    writer.name("state")
    writer.value(revokedAt == nil ? "active" : "revoked")
    writer.name("scopes")
    writer.beginArray()
    for scope in scopes.words { writer.value(scope) }
    writer.endArray()
    if let site {
      writer.name("site")
      writer.value(site)
    }
    writer.name("subjects")
    writer.value(String(decoding: subjects.text, as: UTF8.self))
    if count > 0 {
      writer.name("barred_for")
      writer.value(Int64(count))
    }
    for (name, time) in [("created_at", createdAt), ("rotated_at", rotatedAt), ("revoked_at", revokedAt)] {
      guard let time else { continue }
      writer.name(name)
      writer.value(time.seconds)
    }
    writer.endObject()
  }
}
