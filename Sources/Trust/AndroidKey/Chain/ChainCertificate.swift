/// A certificate of an attestation chain: strict DER, with all that the chain's rules ask about it read once.
internal import Bytes
internal import Crypto
internal import X509

struct ChainCertificate {
  let parsed: ParsedCertificate
  let serial: CertificateSerial
  let algorithm: SignatureAlgorithm?
  /// SHA-256 of its `SubjectPublicKeyInfo`.
  let keyHash: Bytes32

  /// - Parameter place: 0 is the leaf, 1 the device's own.
  init(_ der: [UInt8], place: Int) throws(AndroidKeyRejection) {
    guard der.count <= Self.maximumBytes else { throw .certificate }
    var rules = CertificateRules()
    rules.needsExtensions = false
    // As `AttestationChain` asks: what these certificates may do from the third on, the leaf whether it is an authority, and
    // not when the leaf is valid.
    rules.readsKeyUsage = place >= 2
    rules.readsBasicConstraints = place != 1
    rules.readsValidity = place != 0
    rules.mayEncodeDefaults = true
    rules.keepsToProfile = false
    rules.checksSignatureForm = false
    rules.strictness = .devices
    let parsed: ParsedCertificate
    do throws(CertificateParseError) {
      parsed = try CertificateParser.parse(der.span, rules: rules)
    } catch {
      throw error == .duplicateExtension ? .duplicateExtension : .certificate
    }
    let bytes = parsed.der.span
    let number = bytes.extracting(parsed.serialNumber)
    guard number[0] < 0x80 else { throw .certificate }
    self.parsed = parsed
    serial = CertificateSerial(magnitude: number)
    algorithm = SignatureAlgorithm(
      bytes.extracting(parsed.signatureAlgorithmIdentifier),
      inner: bytes.extracting(parsed.innerSignatureAlgorithmIdentifier))
    keyHash = SHA256.hash(bytes.extracting(parsed.subjectPublicKeyInfo))
  }

  var hasUnreadCriticalExtension: Bool {
    let read = [ObjectIdentifiers.basicConstraints, ObjectIdentifiers.keyUsage, Self.keyDescription]
    return parsed.extensions.contains { $0.isCritical && !read.contains($0.identifier) }
  }

  /// Where the description of a key is, as the content of the extension's OCTET STRING.
  var description: Range<Int>? { parsed.extensionValue(Self.keyDescription) }

  /// Says what runs in a protected virtual machine (AOSP, "VM Remote Attestation"): the machine has the key, and the chain
  /// leads to the roots of phones.
  var isOfVirtualMachine: Bool {
    parsed.extensions.contains { $0.identifier.starts(with: Self.virtualMachine) }
  }

  var isAuthority: Bool { parsed.basicConstraints?.isAuthority == true }

  /// Whether it may sign certificates, with so many authorities between them and the leaf.
  func mayIssue(above authorities: Int) -> Bool {
    guard let constraints = parsed.basicConstraints, constraints.isAuthority else { return false }
    if let usage = parsed.keyUsage, !usage.contains(.keyCertSign) { return false }
    return constraints.pathLength.map { authorities <= $0 } ?? true
  }

  /// The certificate before the root has such a name in chains that were made in a factory, for good.
  var subjectHasSerialNumber: Bool {
    // 2.5.4.5
    hasAttribute { identifier, _ in identifier.isEqual(to: [0x55, 0x04, 0x05]) }
  }

  var subjectNamesStrongBox: Bool { hasAttribute { _, value in value.containsIgnoringCase("strongbox") } }

  /// Of the subject, whose form the parser has checked.
  private func hasAttribute(_ test: (Span<UInt8>, Span<UInt8>) -> Bool) -> Bool {
    let name = parsed.subject.span
    do throws(DERError) {
      var outer = DERReader(name)
      var relativeNames = DERReader(name, in: try outer.next(.sequence).content)
      while !relativeNames.isAtEnd {
        var attributes = DERReader(name, in: try relativeNames.next(.set).content)
        while !attributes.isAtEnd {
          var attribute = DERReader(name, in: try attributes.next(.sequence).content)
          let identifier = try attribute.next(.objectIdentifier).content
          let value = try attribute.next().content
          if test(name.extracting(identifier), name.extracting(value)) { return true }
        }
      }
    } catch {
      return false
    }
    return false
  }

  /// Real ones have at most 2,600.
  static let maximumBytes = 8192
  /// 1.3.6.1.4.1.11129.2.1.17
  static let keyDescription: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xD6, 0x79, 0x02, 0x01, 0x11]
  /// 1.3.6.1.4.1.11129.2.1.29, with versions below it
  private static let virtualMachine: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xD6, 0x79, 0x02, 0x01, 0x1D]
}

extension Span<UInt8> {
  /// Whether the lower-case ASCII `text` is somewhere within, in any case.
  fileprivate func containsIgnoringCase(_ text: StaticString) -> Bool {
    let wanted = Array("\(text)".utf8)
    guard count >= wanted.count else { return false }
    return (0...count - wanted.count).contains { start in
      wanted.indices.allSatisfy { index in
        let byte = self[start + index]
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
          ? byte | 0x20 == wanted[index] : byte == wanted[index]
      }
    }
  }
}
