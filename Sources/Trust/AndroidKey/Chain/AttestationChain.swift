/// A chain from a key's certificate to a pinned root, and the rules that hold between its certificates (RFC 5280 §6, as far
/// as devices keep to it).
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import Time
internal import X509

struct AttestationChain {
  static let longest = 10

  /// The leaf first, the root last; at least three.
  let certificates: [ChainCertificate]

  /// Each certificate by itself. All of them are read before anything is told of the second rule, and so on.
  init(_ chain: [[UInt8]]) throws(AndroidKeyRejection) {
    guard (3...Self.longest).contains(chain.count) else { throw .chainLength }
    var certificates: [ChainCertificate] = []
    certificates.reserveCapacity(chain.count)
    var hasDuplicate = false
    for (index, der) in chain.enumerated() {
      do throws(AndroidKeyRejection) {
        certificates.append(try ChainCertificate(der, place: index))
      } catch .duplicateExtension {
        hasDuplicate = true
      }
    }
    guard !hasDuplicate else { throw .duplicateExtension }
    guard !certificates.contains(where: \.hasUnreadCriticalExtension) else { throw .criticalExtension }
    guard certificates.allSatisfy({ $0.algorithm != nil }) else { throw .signatureAlgorithm }
    self.certificates = certificates
  }

  var leaf: ChainCertificate { certificates[0] }
  /// Marks a factory's chain; may be the second one, the device's own.
  private var beforeRoot: ChainCertificate { certificates[certificates.count - 2] }

  /// For whoever looks at them again. Of the root, which is pinned by its key, all else is the sender's to say: a number
  /// that is none (RFC 5280 §4.1.2.2) is not kept.
  var serials: [CertificateSerial] {
    let root = certificates[certificates.count - 1].serial
    return certificates.dropLast().map(\.serial) + (root.hex.utf8.count <= 40 ? [root] : [])
  }

  var namesStrongBox: Bool { certificates[1].subjectNamesStrongBox || beforeRoot.subjectNamesStrongBox }

  /// Pinned by its key, and it alone: a root in the middle would hide what stands behind it.
  func checkRoot(_ roots: Set<Bytes32>) throws(AndroidKeyRejection) {
    let places = certificates.indices.filter { roots.contains(certificates[$0].keyHash) }
    guard places == [certificates.count - 1] else { throw .root }
  }

  func checkNames() throws(AndroidKeyRejection) {
    for (certificate, issuer) in zip(certificates, certificates.dropFirst())
    where certificate.parsed.issuer != issuer.parsed.subject {
      throw .issuerName
    }
  }

  /// From the root down, so that no key is used before it is known to be one of theirs.
  func checkSignatures(by verifier: IssuerSignatureVerifier) throws(AndroidKeyRejection) {
    for index in certificates.indices.dropLast().reversed() {
      let certificate = certificates[index].parsed
      let issuer = certificates[index + 1].parsed
      let bytes = certificate.der.span
      guard let algorithm = certificates[index].algorithm,
        let key = IssuerKey(
          subjectPublicKeyInfo: issuer.der.span.extracting(issuer.subjectPublicKeyInfo)),
        key.family == algorithm.family,
        verifier.isValid(
          bytes.extracting(certificate.signature), over: bytes.extracting(certificate.toBeSigned),
          algorithm.digest, by: key)
      else { throw .signature }
    }
  }

  /// The leaf's dates are set on the device, and the root is pinned by its key. A factory's certificates cannot be renewed
  /// once the device is sold: they do not end.
  func checkValidity(at now: UnixSeconds) throws(AndroidKeyRejection) {
    let isFactory = beforeRoot.subjectHasSerialNumber
    for certificate in certificates.dropFirst().dropLast() {
      guard let notBefore = certificate.parsed.notBefore, let notAfter = certificate.parsed.notAfter,
        notBefore.seconds <= now.value, isFactory || now.value <= notAfter.seconds
      else { throw .validity }
    }
  }

  /// The second one is the device's own, and some makers mark it as no authority.
  func checkAuthorities() throws(AndroidKeyRejection) {
    guard !leaf.isAuthority else { throw .leafAuthority }
    for index in certificates.indices.dropFirst(2) {
      guard certificates[index].mayIssue(above: index - 1) else { throw .authority }
    }
  }

  /// An attested key that signs a certificate would otherwise speak for any key with any words: one of the Keystore, or one
  /// that a virtual machine has, of which an app may take the key itself.
  func checkDescriptions() throws(AndroidKeyRejection) {
    guard certificates.dropFirst().allSatisfy({ $0.description == nil && !$0.isOfVirtualMachine }) else {
      throw .extensionPosition
    }
    guard leaf.description != nil else { throw .extensionMissing }
  }

  func checkRevocation(_ policy: AndroidKeyPolicy) throws(AndroidKeyRejection) {
    guard let list = policy.revocation, let age = policy.revocationAge,
      RevocationList.isCurrent(age: age, maximum: policy.revocationMaximumAge)
    else { throw .revocationStale }
    guard !certificates.contains(where: { list.contains($0.serial) }) else { throw .revoked }
  }
}
