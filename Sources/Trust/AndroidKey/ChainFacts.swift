/// What a chain says of itself, whether it is to be believed or not: to see why one is refused.
internal import Bytes
internal import Time
internal import X509

package enum ChainFacts {
  package struct Fact: Equatable, Sendable {
    package let name: String
    /// Bytes of a peer's are printable here.
    package let value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// As far as the chain can be read.
  package static func all(of chain: [[UInt8]]) -> [Fact] {
    var facts = [Fact("certificates", "\(chain.count)")]
    let certificates = chain.prefix(AttestationChain.longest).enumerated().map { index, der in
      try? ChainCertificate(der, place: index)
    }
    for (index, certificate) in certificates.enumerated() {
      guard let certificate else {
        facts.append(Fact("certificate \(index + 1)", "cannot be read"))
        continue
      }
      let dates = [certificate.parsed.notBefore, certificate.parsed.notAfter]
        .map { $0?.timestamp ?? "no time" }.joined(separator: " to ")
      facts.append(
        Fact(
          "certificate \(index + 1)",
          "serial \(certificate.serial)  \(dates)  key \(certificate.keyHash.hex)"))
    }
    if certificates.count >= 2, let beforeRoot = certificates[certificates.count - 2] {
      facts.append(Fact("made", beforeRoot.subjectHasSerialNumber ? "in a factory" : "remotely, for a time"))
    }
    guard let leaf = certificates.first ?? nil, let range = leaf.description,
      let description = try? KeyDescription(leaf.parsed.der.span, in: range)
    else { return facts }
    return facts + all(of: description)
  }

  private static func all(of description: KeyDescription) -> [Fact] {
    [
      Fact("challenge", hex(description.challenge)),
      Fact("attestation level", level(description.attestationLevel)),
      Fact("key level", level(description.keyLevel)),
    ] + list("hardware", description.hardware) + list("software", description.software)
  }

  private static func list(_ name: String, _ list: AuthorizationList) -> [Fact] {
    var facts: [Fact] = []
    func add(_ member: String, _ value: UInt64?) {
      if let value { facts.append(Fact("\(name) \(member)", "\(value)")) }
    }
    if let purposes = list.purposes {
      facts.append(Fact("\(name) purposes", purposes.map(String.init).joined(separator: " ")))
    }
    add("algorithm", list.algorithm)
    add("key size", list.keySize)
    add("curve", list.curve)
    if list.needsNoAuthentication { facts.append(Fact("\(name) authentication", "none is needed")) }
    add("authenticators", list.authenticators)
    add("authentication timeout", list.authenticationTimeout)
    if list.isForAllApplications { facts.append(Fact("\(name) applications", "all")) }
    add("origin", list.origin)
    if let root = list.rootOfTrust {
      facts.append(
        Fact("\(name) boot", "\(root.isLocked ? "locked" : "unlocked"), state \(root.bootState)"))
    }
    add("patch", list.patch)
    if let application = list.applicationID {
      facts += application.packages.prefix(mostNames).map {
        Fact("\(name) package", PrintableText.field($0.span, limit: 223))
      }
      facts += application.digests.prefix(mostNames).map {
        Fact("\(name) digest", hex($0))
      }
    }
    return facts
  }

  /// Cut where nobody would compare it any more.
  private static func hex(_ bytes: [UInt8]) -> String {
    let kept = Array(bytes.prefix(64))
    return Hex.encode(kept.span)
  }

  private static func level(_ number: UInt64) -> String {
    number == 0 ? "software" : SecurityLevel(number: number)?.rawValue ?? "\(number)"
  }

  /// Of packages, and of digests, that are shown of an application.
  private static let mostNames = 10
}
