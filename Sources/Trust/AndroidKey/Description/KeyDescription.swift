/// What the hardware says of a key: the extension of the leaf, as values (Android, "Key and ID attestation", schema of
/// `KeyDescription`).
internal import Bytes
internal import X509

struct KeyDescription {
  let attestationLevel: UInt64
  /// Of the KeyMint or Keymaster that holds the key.
  let keyLevel: UInt64
  let challenge: [UInt8]
  /// What the system enforces, on which nothing hangs but which app it was; and what the hardware does.
  let software: AuthorizationList
  let hardware: AuthorizationList

  /// - Parameter range: of `der`, whose DER inside is not yet checked.
  init(_ der: Span<UInt8>, in range: Range<Int>) throws(DERError) {
    try DERWalk.check(der, in: range, .heads)
    var outer = DERReader(der, in: range)
    var fields = DERReader(der, in: try outer.next(.sequence).content)
    _ = try DERValue.unsigned(der.extracting(try fields.next(.integer).content))
    attestationLevel = try DERValue.unsigned(der.extracting(try fields.next(.enumerated).content))
    _ = try DERValue.unsigned(der.extracting(try fields.next(.integer).content))
    keyLevel = try DERValue.unsigned(der.extracting(try fields.next(.enumerated).content))
    challenge = der.extracting(try fields.next(.octetString).content).array
    // An identifier of the device's own making, which nobody asks for.
    _ = try fields.next(.octetString)
    software = try AuthorizationList(der, in: try fields.next(.sequence).content, of: .software)
    hardware = try AuthorizationList(der, in: try fields.next(.sequence).content, of: .hardware)
    try fields.expectEnd()
  }
}

extension DERTag {
  static let null = universal(5)
  static let enumerated = universal(10)
}
