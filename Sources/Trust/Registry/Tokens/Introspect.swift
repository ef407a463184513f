/// `POST /device/introspect`: a service asks whether a device's token still holds (after RFC 7662).
internal import DeviceTokens
internal import DeviceWire

package struct IntrospectForm: Equatable, Sendable {
  package let token: String

  package init(_ form: Form) throws(FormError) {
    token = try form.text("token") { $0 }
  }
}

package struct Introspect: RegistryCall {
  private let bearer: String
  private let form: IntrospectForm

  /// - Parameter bearer: the service's own token.
  package init(bearer: String, _ form: IntrospectForm) {
    self.bearer = bearer
    self.form = form
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let service = try transaction.service(bearer: bearer, scope: .devicesRead)
    var answer = DeviceAnswer()
    guard let token = read(transaction), let device = try transaction.holder(of: token),
      device.state == .active,
      device.subject.map(service.mayName) ?? true
    else {
      answer.put("active", false)
      return .reply(answer.reply())
    }
    answer.put("active", true)
    answer.put("device_id", device.id.text)
    answer.put("subject", device.subject?.name)
    answer.putStanding(device)
    answer.put("exp", token.expiresAt.value)
    return .reply(answer.reply())
  }

  /// Also one that is for others: they are whom it was made for.
  private func read(_ transaction: Transaction) -> DeviceToken? {
    let issuer = transaction.settings.publicURL
    do throws(TokenRejection) {
      return try transaction.tokens.read(
        Array(form.token.utf8).span, issuer: issuer,
        audiences: [issuer] + transaction.settings.tokenAudiences,
        now: transaction.now)
    } catch {
      return nil
    }
  }
}
