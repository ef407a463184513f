/// Phones that change their keys while approvals wait for them.
import Bytes
import DeviceWire
import Time
import Testing

@testable import Registry

extension ApprovalPart {
  /// The same device with other keys.
  /// - Parameter isVouchedFor: whether the app attests them; else they are bare.
  func rotate(_ phone: Phone, vouchedFor isVouchedFor: Bool) throws -> Phone {
    let next = try Phone.make(id: phone.id)
    let nonce = Bytes32.random(KernelEntropy())
    let message = DeviceMessage.rotate(server: server, device: phone.id, newKeys: next.keys, nonce: nonce)
    let approval = try #require(next.keys.approval)
    let body = #"""
      {"device_id":"\#(phone.id.text)","nonce":"\#(nonce.hex)",
       "device_pubkey":"\#(Self.text(next.keys.device))","approval_pubkey":"\#(Self.text(approval))",
       "signature":"\#(try phone.signByDevice(message))","new_signature":"\#(try next.signByDevice(message))",
       "new_approval_signature":"\#(try next.sign(message))"}
      """#
    let evidence: VerifiedEvidence? =
      isVouchedFor ? .appAttest(KeyIdentifier(Bytes32.random(KernelEntropy()))) : nil
    let call = Rotate(try RotateForm(form(body)), nonce: SpentNonce(spent: nonce), evidence: evidence)
    #expect(try answer(call).code == nil)
    return next
  }

  func attestedKey(_ phone: Phone) throws -> KeyIdentifier? { try store.device(phone.id)?.attestedKey }

  private static func text(_ key: DevicePublicKey) -> String { Base64.encodeURL(key.point.x963.span) }
}
