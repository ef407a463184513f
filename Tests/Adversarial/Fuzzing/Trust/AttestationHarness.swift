/// Attestations (docs/app-attest.md, "Attestation"): nothing passes that the authority has not signed, and of what it
/// has signed, only what keeps every rule.
///
/// An input is verified as it is; and, where only a signature or the nonce is wrong, once more after the
/// authority has signed it as it stands. Without that the fuzzer would never come past the signatures.
@testable internal import AppAttest
internal import Bytes
@testable internal import CBOR
internal import Crypto
internal import Identity
@testable internal import X509

enum AttestationHarness {
  private static let authority = TestAuthority.shared
  private static let verifier = AttestationVerifier(root: authority.root)
  /// What the authority has signed: all that may pass as it is.
  private static let signed = TestAuthority.Launch.allCases.map(authority.attestedData)

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    switch verify(bytes, authority.deviceKeyID) {
    case .success(let attestation):
      try checkAccepted(attestation, bytes)
      let data = try authenticatorData(of: bytes)
      try require(signed.contains(data), "forged: \(Hex.encode(data.span))")
      return .accepted
    case .failure(let error):
      if case .cbor(let rule) = error {
        try require(CBORHarness.error(bytes) == rule, "\(rule), but CBOR says otherwise")
      }
      guard mayBeSigned(error), let repaired = repair(bytes) else { return .refused }
      guard case .success(let attestation) = verify(repaired.bytes, repaired.keyID) else { return .refused }
      try checkAccepted(attestation, repaired.bytes)
      return .refused
    }
  }

  private static func verify(
    _ bytes: [UInt8], _ keyID: KeyIdentifier
  ) -> Result<ValidatedAttestation, AttestationError> {
    // A verifier remembers intermediates; another one than the usual gets a verifier without a past, so that
    // what is found does not depend on the inputs before it.
    let intermediate = (try? UnverifiedAttestation(bytes.span))?.intermediate
    let isUsual = intermediate.map { bytes[$0].elementsEqual(authority.intermediate) } ?? true
    let verifier = isUsual ? verifier : AttestationVerifier(root: authority.root)
    do throws(AttestationError) {
      return .success(
        try verifier.verify(
          bytes.span, keyID: keyID, clientDataHash: TestAuthority.clientDataHash, at: TestAuthority.now,
          policy: TestAuthority.policy))
    } catch {
      return .failure(error)
    }
  }

  // MARK: What is true of every accepted one

  /// The rules of docs/app-attest.md, "Attestation" once more, as plainly as they can be written.
  private static func checkAccepted(
    _ attestation: ValidatedAttestation, _ bytes: [UInt8]
  ) throws(BrokenProperty) {
    let data = try authenticatorData(of: bytes)
    try require(data.count >= 164, "step 8: too short")
    try require(data[..<32].elementsEqual(TestAuthority.app.rpIDHash.array), "step 5: another app")
    try require(attestation.appID == TestAuthority.app, "step 5: another app is told of")
    try require(data[33..<37].allSatisfy { $0 == 0 }, "step 6: the counter is not zero")
    try require(
      data[37..<53].elementsEqual(Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)),
      "step 7: not production")
    try require(attestation.environment == .production, "step 7: not production is told of")
    let point = attestation.publicKey.x963
    let keyID = SHA256.hash(point.span).array
    try require(attestation.keyID.digest.array == keyID, "step 4: not the key's own name")
    try require(data[53..<87].elementsEqual([0x00, 0x20] + keyID), "step 8: another credential")
    let cose =
      [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point[1..<33]
      + [0x22, 0x58, 0x20] + point[33...]
    try require(data[87..<164].elementsEqual(cose), "step 8: another key")
    try require(data[32] & 0x40 != 0, "no credential announced")
    try checkLaunch(
      Array(data[164...]), isFlagged: data[32] & 0x80 != 0, attestation.validationCategory,
      attestation.bundleVersion)
    guard let object = try? UnverifiedAttestation(bytes.span) else { throw BrokenProperty("no object") }
    try require(bytes[object.receipt].elementsEqual(attestation.receipt), "another receipt")
    try require(
      bytes[object.leaf].count <= 4096 && bytes[object.intermediate].count <= 4096, "step 1: too large")
    try require(bytes.count <= 16_384, "larger than the limit")
  }

  /// Step 9: nothing, or one CBOR map of text keys that is not empty.
  static func checkLaunch(
    _ rest: [UInt8], isFlagged: Bool, _ category: UInt32?, _ version: String?
  ) throws(BrokenProperty) {
    try require((version?.utf8.count ?? 0) <= 256, "step 9: a long bundle version")
    guard !rest.isEmpty else {
      try require(!isFlagged, "step 9: flagged, and nothing there")
      try require(category == nil && version == nil, "step 9: something from nothing")
      return
    }
    guard let document = try? CBORDocument.parse(rest.span, limits: CBORLimits(bytes: 2048)),
      case .map(let count) = document.root.kind, count > 0
    else { throw BrokenProperty("step 9: no map") }
    for (key, _) in document.pairs(of: document.root) {
      try require(
        isFlagged || rest[key].starts(with: Array("apple_".utf8)), "step 9: a foreign key unflagged")
    }
  }

  private static func authenticatorData(of bytes: [UInt8]) throws(BrokenProperty) -> [UInt8] {
    guard let object = try? UnverifiedAttestation(bytes.span) else { throw BrokenProperty("no object") }
    return Array(bytes[object.authenticatorData])
  }

  // MARK: Signing what came

  /// Whether a signature or the nonce is what was missing; all else comes before them, or is wrong anyway.
  private static func mayBeSigned(_ error: AttestationError) -> Bool {
    switch error {
    case .signature, .nonce, .keyIdentifier: true
    default: false
    }
  }

  private static func repair(_ bytes: [UInt8]) -> (bytes: [UInt8], keyID: KeyIdentifier)? {
    guard let object = try? UnverifiedAttestation(bytes.span) else { return nil }
    let data = Array(bytes[object.authenticatorData])
    var intermediate = Array(bytes[object.intermediate])
    if intermediate != authority.intermediate {
      guard let signed = signed(intermediate, by: .root) else { return nil }
      intermediate = signed
    }
    let nonce = SHA256.hash(data.span, TestAuthority.clientDataHash).array
    guard let leaf = signed(Self.leaf(Array(bytes[object.leaf]), with: nonce), by: .intermediate),
      let parsed = try? CertificateParser.parse(leaf.span), case .p256(let point) = parsed.publicKey
    else { return nil }
    let keyID = KeyIdentifier(SHA256.hash(point.x963.span))
    return (
      TestAuthority.attestation(
        leaf: leaf, intermediate: intermediate, receipt: Array(bytes[object.receipt]), data: data), keyID
    )
  }

  /// The leaf with this nonce where its own stands, if it has one.
  private static func leaf(_ leaf: [UInt8], with nonce: [UInt8]) -> [UInt8] {
    let head = AppleIdentifiers.nonce + [0x04, 0x26, 0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]
    var leaf = leaf
    for start in leaf.indices.dropLast(head.count + nonce.count - 1)
    where leaf[start...].starts(with: head) {
      leaf.replaceSubrange(start + head.count..<start + head.count + nonce.count, with: nonce)
      return leaf
    }
    return leaf
  }

  /// The same body and algorithm under a signature of this key; nil when it does not look like a certificate.
  private static func signed(_ certificate: [UInt8], by signer: TestAuthority.Signer) -> [UInt8]? {
    let bytes = certificate.span
    var outer = DERReader(bytes)
    guard let whole = try? outer.next(.sequence) else { return nil }
    var parts = DERReader(bytes, in: whole.content)
    guard let body = try? parts.next(.sequence), let algorithm = try? parts.next(.sequence) else {
      return nil
    }
    let message = Array(certificate[body.whole])
    return DERWriter.sequence(
      message, Array(certificate[algorithm.whole]),
      DERWriter.bitString(authority.sign(message, by: signer)))
  }
}
