/// By what a kept session was let in, as far as it has to be known to look again whether that is still good.
package import Bytes

package enum KeptCredential: Equatable, Sendable {
  /// `REQUIRE_APP_AUTH=false`: the session's id alone.
  case none
  case assertion(KeyIdentifier)
  /// - Parameters:
  ///   - subject: as it is shown; the first `subjectLimit` bytes of it.
  ///   - publicKey: SHA-256 of its `SubjectPublicKeyInfo`.
  case certificate(subject: String, publicKey: Bytes32)
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - attestedKey: which vouched for it when the session began.
  case device(id: [UInt8], attestedKey: KeyIdentifier?)

  package static let subjectLimit = 64
  package static let deviceIDBytes = 16
}

extension KeptCredential {
  func write(to fields: inout FieldWriter) {
    switch self {
    case .none: fields.put(UInt8(0))
    case .assertion(let key):
      fields.put(UInt8(1))
      fields.put(key.digest)
    case .certificate(let subject, let publicKey):
      fields.put(UInt8(2))
      fields.put(publicKey)
      fields.put(short: Self.cut(subject))
    case .device(let id, let attestedKey):
      guard id.count == Self.deviceIDBytes else { fatalError("KeptCredential: an id of \(id.count) bytes") }
      fields.put(UInt8(attestedKey == nil ? 3 : 4))
      fields.put(bare: id)
      if let attestedKey { fields.put(attestedKey.digest) }
    }
  }

  init(from fields: inout FieldReader) throws(KeptError) {
    switch try fields.byte() {
    case 0: self = .none
    case 1: self = .assertion(KeyIdentifier(try fields.digest()))
    case 2:
      let publicKey = try fields.digest()
      let subject = try fields.short(.credential, limit: Self.subjectLimit)
      guard let text = String(validating: subject, as: UTF8.self) else { throw .unfit(.credential) }
      self = .certificate(subject: text, publicKey: publicKey)
    case 3: self = .device(id: try fields.take(Self.deviceIDBytes), attestedKey: nil)
    case 4:
      let id = try fields.take(Self.deviceIDBytes)
      self = .device(id: id, attestedKey: KeyIdentifier(try fields.digest()))
    default: throw .unfit(.credential)
    }
  }

  /// Whole characters.
  private static func cut(_ subject: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for character in subject.unicodeScalars {
      let next = Array(String(character).utf8)
      if bytes.count + next.count > subjectLimit { break }
      bytes += next
    }
    return bytes
  }
}
