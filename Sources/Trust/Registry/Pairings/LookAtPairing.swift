/// One pairing as the console shows it: with its code as long as no phone has answered (docs/console.md, "Console").
package import DeviceWire
package import JSON

package struct LookAtPairing: AnsweringCall {
  package typealias Answer = PairingLook
  private let id: PairingID

  package init(id: PairingID) {
    self.id = id
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let pairing = try transaction.pairing(id, of: .host)
    var device: DeviceRecord?
    if let id = pairing.answer?.device, pairing.state != .refused {
      device = try transaction.store.device(id)
    }
    return .reply(
      .value(
        PairingLook(pairing: pairing, device: device, uri: Self.uri(pairing, transaction.settings.publicURL)))
    )
  }

  /// The same code as when it was opened; nil once it is of no use to a phone.
  private static func uri(_ pairing: PairingRecord, _ publicURL: String) -> PairingURI? {
    guard pairing.state == .open, let secret = pairing.secret, let address = PublicAddress(publicURL) else {
      return nil
    }
    return PairingURI(
      pairingID: pairing.id, secret: secret, serverKeyHash: pairing.serverKeyHash, host: address.host,
      port: address.port)
  }
}

package struct PairingLook: RegistryAnswer {
  package let pairing: PairingRecord
  /// The phone that has answered.
  package let device: DeviceRecord?
  /// What the QR code says: whoever sees it can answer in the phone's place.
  package let uri: PairingURI?

  /// Before the pairing is over.
  package var triesLeft: Int { Int(max(0, PairingRecord.digitsToBurn - pairing.wrongDigits)) }

  /// Without the code.
  package func write(to json: inout JSONWriter) { pairing.write(to: &json, device: device) }
}
