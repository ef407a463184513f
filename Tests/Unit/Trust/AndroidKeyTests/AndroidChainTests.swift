/// The chain itself: what an attacker with a genuine phone, or with none, can put together.
import Bytes
import Crypto
import Device
import DeviceWire
import Time
import Testing

@testable import AndroidKey

@Suite struct AndroidChainTests {
  @Test func lengths() throws {
    let phone = try AttestedPhone()
    let chain = try phone.chain()
    for chain in [
      [], [chain[0]], [chain[0], chain[3]], Array(repeating: chain[0], count: 11),
      Array(repeating: [], count: 1000),
    ] {
      #expect(try phone.rejection(chain) == .chainLength)
    }
    #expect(try phone.rejection(Array(repeating: [], count: 10)) == .certificate)
    var long = chain
    long[0] += [UInt8](repeating: 0, count: 8193 - long[0].count)
    #expect(try phone.rejection(long) == .certificate)
  }

  @Test func orders() throws {
    let phone = try AttestedPhone()
    let chain = try phone.chain()
    #expect(try phone.rejection(chain.reversed()) == .root)
    #expect(try phone.rejection(chain + [chain[3]]) == .root)
    #expect(try phone.rejection(chain.dropLast()) == .root)
    #expect(try phone.rejection([chain[0], chain[2], chain[1], chain[3]]) == .issuerName)
    #expect(try phone.rejection([chain[0], chain[2], chain[3]]) == .issuerName)
    #expect(try phone.rejection([chain[0]] + chain) == .issuerName)
  }

  /// All names are the same, and the keys another's.
  @Test func impostors() throws {
    let phone = try AttestedPhone()
    let chain = try phone.chain()
    let theirs = try AttestedPhone().chain()
    #expect(try phone.rejection(theirs) == .root)
    #expect(try phone.rejection(theirs.dropLast() + [chain[3]]) == .signature)
    #expect(try phone.rejection([theirs[0], theirs[1], chain[2], chain[3]]) == .signature)
    #expect(try phone.rejection([theirs[0], chain[1], chain[2], chain[3]]) == .signature)
    #expect(try phone.rejection(chain.dropLast() + [theirs[3]]) == .root)
  }

  /// A genuine attested key signs a certificate for another key, described as the attacker likes.
  @Test(arguments: [false, true]) func attestedKeysAttestNothing(isDescribed: Bool) throws {
    let phone = try AttestedPhone()
    let name = DistinguishedName((.commonName, "Android Keystore Key"))
    let description = CertificateExtension([1, 3, 6, 1, 4, 1, 11129, 2, 1, 17], phone.description.der)
    let builder = CertificateBuilder(
      subject: name, issuer: name, notBefore: AttestedPhone.now.adding(days: -1),
      notAfter: AttestedPhone.now.adding(days: 1),
      extensions: (isDescribed ? [description] : []) + [.keyUsage(.digitalSignature)])
    let other = try SigningKey.generate(.p256)
    let forged = try builder.sign(subjectPublicKeyInfo: other.subjectPublicKeyInfo(), with: phone.key.key)
    #expect(try phone.rejection([forged.der] + phone.chain()) == .extensionPosition)
  }

  /// Attack: an app that runs in a protected virtual machine has the private key of a certificate that leads to Google's
  /// roots, and signs one for a key of its own. No authority, but that the second of a chain need not be.
  @Test(arguments: [[1], [2], []] as [[UInt32]]) func virtualMachinesAttestNoKeys(version: [UInt32]) throws {
    let authority = try HandmadeAuthority()
    let machine = CertificateExtension([1, 3, 6, 1, 4, 1, 11129, 2, 1, 29] + version, [0x30, 0x00])
    let forged = try authority.chain(through: [machine])
    #expect(try authority.phone.rejection(forged) == .extensionPosition)
    // What Google says of phones that it provisions is nothing to the chain.
    let provisioned = CertificateExtension([1, 3, 6, 1, 4, 1, 11129, 2, 1, 30], [0xA1, 0x01, 0x18, 0x20])
    #expect(try authority.phone.rejection(authority.chain(through: [provisioned])) == nil)
  }

  /// Attack: a genuine phone sends its root with a number of its own each time, as long as a certificate may be.
  @Test(arguments: [1, 20, 21, 4000]) func numbersOfTheRoot(count: Int) throws {
    let authority = try HandmadeAuthority(rootSerial: [UInt8](repeating: 0x55, count: count))
    let verdict = try authority.phone.verify(authority.chain(serial: [7]))
    #expect(verdict.serials.count == (count <= 20 ? 3 : 2))
  }

  /// What a phone writes of its own certificate, on which nothing hangs: FALSE where that is the default, and any dates.
  @Test func formsThatDecideNothing() throws {
    let authority = try HandmadeAuthority()
    func rejection(_ extensions: [CertificateExtension], _ old: [UInt8], _ new: [UInt8]) throws
      -> AndroidKeyRejection?
    {
      let chain = try authority.chain(extensions: extensions) { body in
        let place = body.firstRange(of: old)
        #expect(place != nil)
        if let place { body.replaceSubrange(place, with: new) }
      }
      return try authority.phone.rejection(chain)
    }
    let unknown = CertificateExtension([1, 3, 6, 1, 4, 1, 99, 1], critical: true, [0x05, 0x00])
    // critical: TRUE of an extension that nobody reads, FALSE written out, and a TRUE that is none.
    let head: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x63, 0x01, 0x01, 0x01]
    #expect(try rejection([unknown], head + [0xFF], head + [0xFF]) == .criticalExtension)
    #expect(try rejection([unknown], head + [0xFF], head + [0x00]) == nil)
    #expect(try rejection([unknown], head + [0xFF], head + [0x01]) == .certificate)
    // cA, likewise.
    let constraints = CertificateExtension([2, 5, 29, 19], [0x30, 0x03, 0x01, 0x01, 0xFF])
    #expect(
      try rejection([constraints], [0x30, 0x03, 0x01, 0x01, 0xFF], [0x30, 0x03, 0x01, 0x01, 0xFF])
        == .leafAuthority)
    #expect(
      try rejection([constraints], [0x30, 0x03, 0x01, 0x01, 0xFF], [0x30, 0x03, 0x01, 0x01, 0x00]) == nil)
    // 2026-01-01, the day of these tests.
    let date = [0x17, 0x0D] + Array("260101000000Z".utf8)
    #expect(try rejection([], date, [0x17, 0x0D] + Array("no date at all".utf8.prefix(13))) == nil)
    #expect(try rejection([], date, [0x0C, 0x0D] + Array("260101000000Z".utf8)) == nil)
  }

  /// The second certificate is the device's own: what it may do is not asked. From the third on it is, in any form that means
  /// the same.
  @Test func authoritiesInOtherForms() throws {
    func usage(_ bits: [UInt8]) -> CertificateExtension {
      CertificateExtension([2, 5, 29, 15], [0x03, 0x02] + bits)
    }
    let odd = [
      CertificateExtension([2, 5, 29, 19], [0x05, 0x00]),
      CertificateExtension([2, 5, 29, 15], [0x04, 0x00]),
    ]
    let ordinary = try HandmadeAuthority()
    #expect(try ordinary.phone.rejection(ordinary.chain(through: odd)) == nil)
    // keyCertSign is bit 5: with the bits behind it written out, and without.
    for (bits, rejection) in [
      ([0x02, 0x04], nil), ([0x00, 0x04], nil), ([0x00, 0x80], .authority), ([0x00, 0x00], .certificate),
    ] as [([UInt8], AndroidKeyRejection?)] {
      let authority = try HandmadeAuthority(extensions: [.basicConstraints(authority: true), usage(bits)])
      #expect(try authority.phone.rejection(authority.chain(through: odd)) == rejection, "\(bits)")
    }
    let broken = try HandmadeAuthority(extensions: odd)
    #expect(try broken.phone.rejection(broken.chain(through: odd)) == .certificate)
  }

  @Test func otherKeys() throws {
    let phone = try AttestedPhone()
    let other = try SigningKey.generate(.p256)
    let chain = try phone.authority.certify(
      subjectPublicKeyInfo: other.subjectPublicKeyInfo(), phone.description, now: AttestedPhone.now)
    #expect(try phone.rejection(chain) == .keyBinding)
    let p384 = try SigningKey.generate(.p384)
    let longer = try phone.authority.certify(
      subjectPublicKeyInfo: p384.subjectPublicKeyInfo(), phone.description, now: AttestedPhone.now)
    #expect(try phone.rejection(longer) == .key)
    var offCurve = try phone.key.key.subjectPublicKeyInfo()
    offCurve[90] ^= 1
    let off = try phone.authority.certify(
      subjectPublicKeyInfo: offCurve, phone.description, now: AttestedPhone.now)
    #expect(try phone.rejection(off) == .key)
  }

  /// A factory's chain never ends, and never begins early.
  @Test func dates() throws {
    var phone = try AttestedPhone()
    let chain = try phone.chain()
    for days in [-1, 0, 3650, 3651, 100_000] as [Int64] {
      phone.policy.now = UnixSeconds(AttestedPhone.now.adding(days: days))
      #expect(try phone.rejection(chain) == nil)
    }
    phone.policy.now = UnixSeconds(AttestedPhone.now.adding(days: -1)) + -1
    #expect(try phone.rejection(chain) == .validity)
  }

  @Test func roots() throws {
    var phone = try AttestedPhone()
    let ours = phone.policy.roots
    phone.policy.roots = []
    #expect(try phone.rejection() == .root)
    phone.policy.roots = AndroidRoots.google
    #expect(try phone.rejection() == .root)
    #expect(AndroidRoots.google.count == 2)
    let other = try TestAndroidAuthority.create(now: AttestedPhone.now)
    let text = Array((phone.authority.root.pem + "between\n" + other.root.pem).utf8)
    let hashes = try AndroidRoots.hashes(inPEM: text.span)
    #expect(try hashes == ours.union([other.rootHash()]))
    phone.policy.roots = hashes
    #expect(try phone.rejection() == nil)
    for bad in ["", "text", phone.authority.root.pem + "-----BEGIN CERTIFICATE-----\nAA==\n"] {
      let bytes = Array(bad.utf8)
      #expect(throws: CertificateError.malformedPEM) { try AndroidRoots.hashes(inPEM: bytes.span) }
    }
    let malformed = Array(PEMBlock.encode("CERTIFICATE", [0x30, 0x00]).utf8)
    #expect(throws: CertificateError.malformed) { try AndroidRoots.hashes(inPEM: malformed.span) }
  }

  /// A serial number longer than RFC 5280 has it, and unique identifiers, which it forbids: odd, and signed for.
  @Test func oddCertificates() throws {
    let authority = try HandmadeAuthority()
    #expect(try authority.rejection(serial: [1]) == nil)
    let long = [0x5A] + [UInt8](repeating: 7, count: 39)
    #expect(try authority.rejection(serial: long) == nil)
    #expect(try authority.verdict(serial: long).serials.first?.hex == Hex.encode(long.span))
    #expect(try authority.rejection(serial: [0x00]) == nil)
    for odd in [
      DERWriter.implicit(1, [0x00, 0xAB]), DERWriter.implicit(2, [0x04, 0xA0]),
      DERWriter.implicit(1, [0x00]) + DERWriter.implicit(2, [0x00]),
    ] {
      #expect(try authority.rejection(serial: [1], afterKey: odd) == nil)
    }
    for bad in [
      DERWriter.implicit(1, []), DERWriter.implicit(2, [0x01, 0x01]), DERWriter.implicit(4, [0x00]),
      DERWriter.implicit(2, [0x00]) + DERWriter.implicit(1, [0x00]),
      DERWriter.explicit(1, DERWriter.bitString([])),
    ] {
      #expect(try authority.rejection(serial: [1], afterKey: bad) == .certificate)
    }
    var revoked = authority
    revoked.phone.policy.revocation = try RevocationList(
      json: Array("{\"entries\":{\"\(Hex.encode(long.span))\":{\"status\":\"REVOKED\"}}}".utf8).span)
    #expect(try revoked.rejection(serial: long) == .revoked)
    #expect(try revoked.rejection(serial: Array(long.dropFirst())) == nil)
  }

  /// Each byte of the leaf changed in turn, those of the description among them: none is accepted, none stops the program.
  @Test(arguments: [0x01, 0x80, 0xFF] as [UInt8]) func everyByteOfTheLeaf(change: UInt8) throws {
    let phone = try AttestedPhone(verifiesUser: true)
    let chain = try phone.chain()
    let verifier = AndroidKeyVerifier()
    let key = try phone.key.key.point()
    for index in chain[0].indices {
      var changed = chain
      changed[0][index] ^= change
      #expect(throws: AndroidKeyRejection.self, "byte \(index)") {
        try verifier.verify(chain: changed, challenge: phone.challenge, key: key, policy: phone.policy)
      }
    }
  }

  /// The same with the description alone, signed anew each time as hardware gone mad would: what is accepted all the same
  /// claims nothing that was not so before.
  @Test func everyByteOfTheDescription() throws {
    var phone = try AttestedPhone(verifiesUser: true)
    phone.policy.requiresUserVerification = true
    phone.policy.minimumPatch = 202_601
    let good = try phone.verify()
    let verifier = AndroidKeyVerifier()
    let key = try phone.key.key.point()
    let spki = try phone.key.key.subjectPublicKeyInfo()
    let der = phone.description.der
    for index in der.indices {
      for change in [0x01, 0x80, 0xFF] as [UInt8] {
        var changed = der
        changed[index] ^= change
        let chain = try phone.authority.certify(
          subjectPublicKeyInfo: spki, descriptionDER: changed, now: AttestedPhone.now)
        guard
          let verdict = try? verifier.verify(
            chain: chain, challenge: phone.challenge, key: key, policy: phone.policy)
        else { continue }
        #expect(verdict.level == good.level && verdict.package == good.package, "byte \(index)")
        #expect(verdict.hasUserVerification && verdict.serials == good.serials, "byte \(index)")
      }
    }
  }
}
