/// The phone opens its commitment, and waits for the operator: `GET /pair/{id}?reveal=`.
package import Bytes
internal import Crypto
package import DeviceWire
internal import PortcullisProtocol

package struct RevealPairing: RegistryCall {
  private let id: PairingID
  private let r: Bytes32

  package init(_ id: PairingID, r: Bytes32) {
    self.id = id
    self.r = r
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    guard let pairing = try transaction.pairing(id) else {
      throw .refused(.pairingRejected, "pairing_unknown")
    }
    guard let answer = pairing.answer, SHA256.hash(r) == answer.commit else {
      return .reply(.refused(RegistryRefusal(.pairingRejected, "pairing_reveal")))
    }
    if pairing.state == .answered {
      var revealed = pairing
      revealed.state = .revealed
      revealed.r = r
      let update = revealed
      try transaction.store.update(update)
      transaction.announce(.wake(.pairing(id)))
    }
    switch pairing.state {
    case .open, .answered, .revealed:
      let reply = json("pending", transaction)
      return transaction.wait == nil
        ? .reply(reply) : .wait(.pairing(id), by: .pairing(id), otherwise: reply)
    case .active: return .reply(json("active", transaction))
    case .refused: return .reply(json("refused", transaction))
    }
  }

  private func json(_ status: String, _ transaction: Transaction) -> Reply {
    var answer = DeviceAnswer()
    answer.put("status", status)
    answer.putPins(transaction.settings.pins)
    return answer.reply()
  }
}
