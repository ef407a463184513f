/// What a phone's hardware says of a key, made from values for tests (Android, "Key and ID attestation", `KeyDescription`).
package import Bytes
internal import Crypto

package struct TestKeyDescription: Sendable {
  /// 1 for a trusted environment, 2 for StrongBox, 0 for software; of the attestation and of the key.
  package var attestationLevel: UInt32
  package var keyLevel: UInt32
  package var challenge: [UInt8]
  /// DER of each entry's value by its number.
  package var software: [UInt32: [UInt8]]
  package var hardware: [UInt32: [UInt8]]
  package var version: UInt32 = 300

  /// As a phone in good order describes a key on P-256 that signs.
  /// - Parameters:
  ///   - digests: SHA-256 of the certificates that signed the app.
  ///   - verifiesUser: whether each use takes biometrics; else none is asked for.
  ///   - patch: of the system, as YYYYMM.
  package init(
    challenge: [UInt8], package: String, digests: [Bytes32], isStrongBox: Bool = false,
    verifiesUser: Bool = false, patch: UInt32 = 202_601
  ) {
    attestationLevel = isStrongBox ? 2 : 1
    keyLevel = attestationLevel
    self.challenge = challenge
    software = [
      Entry.applicationID: Self.applicationID(packages: [package], digests: digests.map(\.array))
    ]
    hardware = [
      Entry.purpose: DERWriter.set(DERWriter.integer(2)), Entry.algorithm: DERWriter.integer(3),
      Entry.keySize: DERWriter.integer(256), Entry.curve: DERWriter.integer(1),
      Entry.origin: DERWriter.integer(0), Entry.rootOfTrust: Self.rootOfTrust(),
      Entry.patch: DERWriter.integer(patch),
    ]
    if verifiesUser {
      hardware[Entry.authenticators] = DERWriter.integer(2)
    } else {
      hardware[Entry.noAuthentication] = [0x05, 0x00]
    }
  }

  /// Numbers of `keymaster_tag_t`.
  package enum Entry {
    package static let purpose: UInt32 = 1
    package static let algorithm: UInt32 = 2
    package static let keySize: UInt32 = 3
    package static let curve: UInt32 = 10
    package static let noAuthentication: UInt32 = 503
    package static let authenticators: UInt32 = 504
    package static let authenticationTimeout: UInt32 = 505
    package static let allApplications: UInt32 = 600
    package static let origin: UInt32 = 702
    package static let rootOfTrust: UInt32 = 704
    package static let patch: UInt32 = 706
    package static let applicationID: UInt32 = 709
  }

  // MARK: DER

  package static func rootOfTrust(isLocked: Bool = true, bootState: UInt32 = 0) -> [UInt8] {
    let hash = DERWriter.octetString([UInt8](repeating: 0x5A, count: 32))
    return DERWriter.sequence(hash, DERWriter.boolean(isLocked), enumerated(bootState), hash)
  }

  package static func applicationID(packages: [String], digests: [[UInt8]]) -> [UInt8] {
    let packages = packages.flatMap {
      DERWriter.sequence(DERWriter.octetString(Array($0.utf8)), DERWriter.integer(7))
    }
    return DERWriter.octetString(
      DERWriter.sequence(
        DERWriter.set(packages), DERWriter.set(digests.flatMap(DERWriter.octetString))))
  }

  package static func enumerated(_ value: UInt32) -> [UInt8] {
    [0x0A] + DERWriter.integer(value).dropFirst()
  }

  /// The value of the leaf's extension.
  package var der: [UInt8] {
    DERWriter.sequence(
      DERWriter.integer(version), Self.enumerated(attestationLevel), DERWriter.integer(version),
      Self.enumerated(keyLevel), DERWriter.octetString(challenge), DERWriter.octetString([]),
      Self.list(software), Self.list(hardware))
  }

  private static func list(_ entries: [UInt32: [UInt8]]) -> [UInt8] {
    DERWriter.element(
      0x30, entries.sorted { $0.key < $1.key }.flatMap { DERWriter.explicit($0.key, $0.value) })
  }
}
