/// Logins that wait for a phone's code: `GET /auth/otp`.
internal import Bytes
internal import DeviceWire
internal import JSON
internal import PortcullisProtocol

package struct ListCodes: RegistryCall {
  private let token: String
  /// The place behind which the phone has seen nothing; 0 for one that was never given.
  private let after: Int64

  package init(bearer token: String, after cursor: String?) {
    self.token = token
    after = Form.place(behind: cursor)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let device = try transaction.activeDevice(bearer: token)
    try transaction.endOverdueCodes(at: transaction.now)
    let holder = CodeHolder(of: device)
    var place = after
    // From another life of the store.
    if place > 0, try place > transaction.store.lastChallengePlace() { place = 0 }
    let items = try transaction.store.openChallenges(for: device.id, after: place)
    let services = items.isEmpty ? [] : try transaction.store.services()
    let now = transaction.now
    let shown = items.filter { $0.challenge.expiresAt > now && $0.challenge.holder == holder }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for item in shown {
      guard let service = services.first(where: { $0.id == item.challenge.service }) else { continue }
      var answer = DeviceAnswer()
      answer.put("challenge_id", item.challenge.id.text)
      answer.put("nonce", item.nonce.hex)
      answer.put("service", service.name.text)
      answer.put("text", item.challenge.text)
      answer.put("expires_at", item.challenge.expiresAt)
      writer.raw(answer.bytes())
    }
    writer.endArray()
    writer.name("cursor")
    writer.value(String(items.last?.place ?? place))
    writer.endObject()
    let answer = Reply.answered(writer.bytes)
    guard shown.isEmpty, transaction.wait != nil else { return .reply(answer) }
    return .wait(.codes(of: device.id), by: .device(device.id), otherwise: answer)
  }
}
