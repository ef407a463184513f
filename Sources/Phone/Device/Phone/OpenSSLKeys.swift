/// The keys of a simulated phone: private keys that, where a phone has them in hardware, are text in its file.
internal import Bytes
package import Crypto
package import DeviceWire
internal import PortcullisDevice
internal import PortcullisProtocol
internal import System

/// One private key on P-256.
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

  /// DER.
  package func sign(_ bytes: [UInt8]) throws(IssuingError) -> [UInt8] { try key.sign(bytes) }
}

/// Keys by names that follow from the keys themselves: a file that names none has them all the same.
final class OpenSSLKeys: PortcullisDevice.DeviceKeys {
  private let keys = Monitor<[KeyName: PhoneKey]>([:])

  func make(_ role: KeyRole, challenge: Octets32?) async throws -> KeyName {
    do { return add(try PhoneKey.generate()) } catch { throw DeviceKeyError.failed(error.description) }
  }

  func point(_ name: KeyName) async throws -> [UInt8] { try key(name).name.point.x963 }

  func sign(_ bytes: [UInt8], by name: KeyName, reason: String) async throws -> [UInt8] {
    do { return try key(name).sign(bytes) } catch let error as IssuingError {
      throw DeviceKeyError.failed(error.description)
    }
  }

  func remove(_ name: KeyName) async throws {
    keys.withLock { keys, _ in keys[name] = nil }
  }

  func key(_ name: KeyName) throws(DeviceKeyError) -> PhoneKey {
    guard let key = keys.withLock({ keys, _ in keys[name] }) else { throw .gone }
    return key
  }

  @discardableResult
  func add(_ key: PhoneKey) -> KeyName {
    let name = KeyName("device-\(key.name.hash.hex)")
    keys.withLock { keys, _ in keys[name] = key }
    return name
  }
}
