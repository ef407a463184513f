/// By what a kept session was let in, as far as it has to be known to look again whether that is still good.
package import Bytes
internal import System
package import Time

package enum KeptCredential: Equatable, Sendable {
  /// `REQUIRE_APP_AUTH=false`: the session's id alone.
  case none
  case assertion(KeyIdentifier)
  /// - Parameters:
  ///   - subject: as it is shown; as many bytes of it as there is room for.
  ///   - publicKey: SHA-256 of its `SubjectPublicKeyInfo`.
  ///   - terms: nil in slots of programs that did not note them.
  case certificate(subject: String, publicKey: Bytes32, terms: Terms?)
  /// - Parameters:
  ///   - id: 16 bytes.
  ///   - attestedKey: which vouched for it when the session began.
  case device(id: [UInt8], attestedKey: KeyIdentifier?)

  /// For how long a certificate is good: while this is one of the client CAs, and until then.
  package struct Terms: Equatable, Sendable {
    package let authority: UInt64
    package let end: UnixTime

    package init(authority: UInt64, end: UnixTime) {
      self.authority = authority
      self.end = end
    }

    static let bytes = 16
  }

  /// Of a subject and its terms together.
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
    case .certificate(let subject, let publicKey, nil):
      fields.put(UInt8(2))
      fields.put(publicKey)
      fields.put(short: Self.cut(subject, to: Self.subjectLimit))
    case .certificate(let subject, let publicKey, let terms?):
      fields.put(UInt8(5))
      fields.put(publicKey)
      fields.put(terms.authority)
      fields.put(UInt64(bitPattern: terms.end.milliseconds))
      fields.put(short: Self.cut(subject, to: Self.subjectLimit - Terms.bytes))
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
      self = .certificate(
        subject: try Self.subject(&fields, limit: Self.subjectLimit), publicKey: publicKey, terms: nil)
    case 3: self = .device(id: try fields.take(Self.deviceIDBytes), attestedKey: nil)
    case 4:
      let id = try fields.take(Self.deviceIDBytes)
      self = .device(id: id, attestedKey: KeyIdentifier(try fields.digest()))
    case 5:
      let publicKey = try fields.digest()
      let authority = try fields.number(UInt64.self)
      let end = UnixTime(milliseconds: Int64(bitPattern: try fields.number(UInt64.self)))
      self = .certificate(
        subject: try Self.subject(&fields, limit: Self.subjectLimit - Terms.bytes), publicKey: publicKey,
        terms: Terms(authority: authority, end: end))
    default: throw .unfit(.credential)
    }
  }

  private static func subject(_ fields: inout FieldReader, limit: Int) throws(KeptError) -> String {
    let bytes = try fields.short(.credential, limit: limit)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .unfit(.credential) }
    return text
  }

  /// Whole characters.
  private static func cut(_ subject: String, to limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for character in subject.unicodeScalars {
      let next = Array(String(character).utf8)
      if bytes.count + next.count > limit { break }
      bytes += next
    }
    return bytes
  }
}
