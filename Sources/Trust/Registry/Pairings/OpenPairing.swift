/// Opens a pairing: `POST /pair` by a service, `portcullis devices pair` by an operator.
internal import Crypto
package import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import Time

package struct OpenPairing: RegistryCall {
  package let owner: PairingOwner
  package let subject: Subject?
  package let name: DeviceName?

  /// A service names the subject, as it pairs its own only.
  package init(form: Form, token: String) throws(FormError) {
    owner = .service(token)
    subject = try form.text("subject") { Subject($0) }
    name = try form.optionalText("name") { DeviceName($0) }
  }

  package init(subject: Subject?, name: DeviceName?) {
    owner = .host
    self.subject = subject
    self.name = name
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var service: ServiceID?
    if case .service(let token) = owner {
      let record = try transaction.service(bearer: token, scope: .pairings)
      guard let subject, record.mayName(subject) else { throw .refused(.scopeMissing, "pairing_subject") }
      service = record.id
    }
    let opener = service
    let open = try transaction.store.openPairings(of: opener)
    guard open < PairingRecord.openLimit else { throw .refused(.tooManyOpen, "pairings_open") }
    guard let pin = transaction.settings.pins.first,
      let address = PublicAddress(transaction.settings.publicURL)
    else {
      throw .refused(.internalError, "pairing_address")
    }
    // An operator pairs as many phones as he likes.
    if let service { try transaction.leave(0, by: service) }
    let secret = PairingSecret(random: transaction.entropy)
    let pairing = PairingRecord(
      id: PairingID(random: transaction.entropy), service: service, subject: subject, name: name,
      secret: secret,
      serverKeyHash: pin.hash, createdAt: transaction.now,
      expiresAt: UnixTime(milliseconds: transaction.now.milliseconds + PairingRecord.life.wholeMilliseconds))
    guard
      let uri = PairingURI(
        pairingID: pairing.id, secret: secret, serverKeyHash: pin.hash, host: address.host, port: address.port
      )
    else { throw .refused(.internalError, "pairing_address") }
    try transaction.store.insert(pairing)
    try transaction.record(.pairingOpened, [.pairing(pairing.id)] + (subject.map { [.subject($0)] } ?? []))
    transaction.remind(at: pairing.expiresAt)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("pairing_id")
    writer.value(pairing.id.text)
    writer.name("uri")
    writer.value(uri.text)
    writer.name("expires_at")
    writer.value(pairing.expiresAt.seconds)
    writer.endObject()
    return .reply(.answered(writer.bytes))
  }
}

/// Where phones find the gate, of `https://host[:port]`.
struct PublicAddress: Equatable {
  /// Without brackets.
  let host: String
  let port: UInt16

  init?(_ url: String) {
    let scheme = "https://"
    guard url.hasPrefix(scheme) else { return nil }
    var rest = url.dropFirst(scheme.count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = String(rest[..<end])
      rest = rest[end...]
    }
    guard !host.isEmpty, rest.isEmpty || rest.hasPrefix(":"),
      let port = rest.isEmpty ? 443 : UInt16(rest.dropFirst())
    else { return nil }
    self.port = port
  }
}
