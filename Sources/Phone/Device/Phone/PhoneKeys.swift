/// The keys of a software phone: one signs for the device without asking, the other for a person who has unlocked it.
internal import Bytes
package import Crypto
package import DeviceWire

/// A private key that, where a phone has it in hardware, is here as text.
package final class PhoneKey: Sendable {
  private let key: SigningKey
  package let name: DevicePublicKey

  private init(_ key: consuming SigningKey) throws(IssuingError) {
    let point = try key.publicPoint()
    guard let name = DevicePublicKey(x963: point.span, checkedBy: P256Verifier()) else {
      throw .unsupportedKey
    }
    self.name = name
    self.key = key
  }

  package static func generate() throws(IssuingError) -> PhoneKey {
    try PhoneKey(SigningKey.generate(.p256))
  }

  /// From PKCS#8 in PEM.
  package convenience init(pem: String) throws(IssuingError) {
    try self.init(SigningKey.read(pem: Array(pem.utf8)))
  }

  package func pem() throws(IssuingError) -> String { try key.pem() }

  /// DER in base64url, as requests carry it.
  package func sign(_ message: DeviceMessage) throws(IssuingError) -> String {
    let signature = try key.sign(message.bytes)
    return Base64.encodeURL(signature.span)
  }

  /// The point in base64url, as iOS gives it (X9.63).
  package var text: String { Base64.encodeURL(name.point.x963.span) }
}

package struct PhoneKeys: Sendable {
  package let device: PhoneKey
  /// Without one a phone has no vote.
  package let approval: PhoneKey?
  /// As messages name them.
  package let names: DeviceKeys

  package init(device: PhoneKey, approval: PhoneKey?) throws(IssuingError) {
    guard let names = DeviceKeys(device: device.name, approval: approval?.name) else { throw .unsupportedKey }
    self.device = device
    self.approval = approval
    self.names = names
  }

  package static func generate(withApproval: Bool) throws(IssuingError) -> PhoneKeys {
    try PhoneKeys(device: .generate(), approval: withApproval ? .generate() : nil)
  }
}
