/// Why a device that asks to come in by its own key is none of those that may: the door knows these alone.
package import DeviceWire
internal import PortcullisProtocol

/// Answers with a refusal, whatever comes of it: by then the upgrade's challenge is spent.
package struct JudgeUpgrade: RegistryCall {
  private let device: DeviceID
  private let nonce: SpentNonce
  private let signature: DeviceSignature

  package init(_ device: DeviceID, nonce: SpentNonce, signature: DeviceSignature) {
    self.device = device
    self.nonce = nonce
    self.signature = signature
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let message = DeviceMessage.deviceAuth(
      server: transaction.server, device: device, nonce: nonce.bytes, for: .upgrade)
    let device = try transaction.device(device, signing: message, signature)
    guard device.state == .active else { throw .refused(.devicePending, "device_pending") }
    throw .refused(.levelTooLow, "door_level")
  }
}
