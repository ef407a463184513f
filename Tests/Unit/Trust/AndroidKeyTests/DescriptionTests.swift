/// What the hardware says of the key: each value that is judged, broken by itself.
import Bytes
import Crypto
import Device
import DeviceWire
import Testing

@testable import AndroidKey

@Suite struct DescriptionTests {
  private typealias Entry = TestKeyDescription.Entry

  @Test(arguments: [false, true], [false, true]) func good(isStrongBox: Bool, verifiesUser: Bool) throws {
    var phone = try AttestedPhone(isStrongBox: isStrongBox, verifiesUser: verifiesUser)
    phone.policy.required = isStrongBox ? .strongbox : .tee
    phone.policy.requiresUserVerification = verifiesUser
    phone.policy.minimumPatch = 202_601
    let verdict = try phone.verify()
    #expect(verdict.level == (isStrongBox ? .strongbox : .tee))
    #expect(verdict.hasUserVerification == verifiesUser)
    #expect(verdict.patch == 202_601 && verdict.package == AttestedPhone.package)
    #expect(verdict.serials.count == 4 && verdict.serials.first?.hex == "1")
  }

  /// A value of the software's list where the hardware's is missing proves nothing, and so does one that is only there.
  @Test(arguments: [
    (Entry.origin, AndroidKeyRejection.origin), (Entry.rootOfTrust, .rootOfTrust),
    (Entry.purpose, .purpose), (Entry.algorithm, .key),
  ])
  func movedToSoftware(number: UInt32, rejection: AndroidKeyRejection) throws {
    var phone = try AttestedPhone()
    phone.description.software[number] = phone.description.hardware.removeValue(forKey: number)
    #expect(try phone.rejection() == rejection)
  }

  @Test(arguments: [
    (Entry.origin, DERWriter.integer(2), AndroidKeyRejection.origin),
    (Entry.rootOfTrust, TestKeyDescription.rootOfTrust(isLocked: false), .deviceLocked),
    (Entry.rootOfTrust, TestKeyDescription.rootOfTrust(bootState: 1), .bootState),
    (Entry.rootOfTrust, DERWriter.sequence(DERWriter.octetString([])), .description),
    (Entry.purpose, DERWriter.set([]), .purpose),
    (Entry.purpose, DERWriter.set(DERWriter.integer(3)), .purpose),
    (Entry.purpose, DERWriter.set(DERWriter.integer(2) + DERWriter.integer(7)), .purpose),
    (Entry.purpose, DERWriter.integer(2), .description),
    (Entry.algorithm, DERWriter.integer(1), .key), (Entry.keySize, DERWriter.integer(384), .key),
    (Entry.curve, DERWriter.integer(2), .key), (Entry.allApplications, [0x05, 0x00], .allApplications),
    (Entry.allApplications, [0x01, 0x01, 0xFF], .description),
    (Entry.allApplications, [0x05, 0x01, 0x00], .description),
    (Entry.noAuthentication, [0x05, 0x01, 0x00], .description),
    // Ignored is what it says, not where it ends.
    (820, [0x30, 0x80, 0x00, 0x00], .description), (820, [0x04, 0x81, 0x01, 0x00], .description),
    (820, [0x30, 0x02, 0x04, 0x01], .description), (820, [], .description),
    (820, [0x05, 0x00, 0x05, 0x00], .description),
    (Entry.purpose, DERWriter.set([0x02, 0x02, 0x00, 0x02]), .description),
    (Entry.rootOfTrust, lockedAs([0x01, 0x00]), .description),
    (Entry.rootOfTrust, lockedAs([0x01, 0x02, 0xFF, 0xFF]), .description),
    (Entry.rootOfTrust, lockedAs([0x02, 0x01, 0x01]), .description),
    (Entry.rootOfTrust, lockedAs([0x01, 0x01, 0x00]), .deviceLocked),
    (Entry.patch, DERWriter.integer(202_600), .patch), (Entry.patch, DERWriter.integer(202_613), .patch),
    (Entry.patch, DERWriter.integer(202_512), .patch), (Entry.patch, DERWriter.integer(20_251_231), .patch),
    (Entry.patch, DERWriter.integer(2601), .patch), (Entry.patch, [0x02, 0x02, 0x00, 0x01], .description),
    (Entry.patch, [0x02, 0x01, 0x80], .description),
    (Entry.patch, [0x02, 0x09, 0x01, 0, 0, 0, 0, 0, 0, 0, 0], .description),
  ])
  func hardwareValues(number: UInt32, value: [UInt8], rejection: AndroidKeyRejection) throws {
    var phone = try AttestedPhone()
    phone.policy.minimumPatch = 202_601
    phone.description.hardware[number] = value
    #expect(try phone.rejection() == rejection)
  }

  @Test(
    arguments: [
      (Entry.patch, DERWriter.integer(20_260_105)),
      (Entry.purpose, DERWriter.set(DERWriter.integer(3) + DERWriter.integer(2))),
      (800, DERWriter.utf8String("anything")), (801, [0x09, 0x03, 0x80, 0x00, 0x01]),
      (802, [0x1E, 0x02, 0x4E, 0x2D]), (803, [0x14, 0x01, 0xE4]), (804, [0x0C, 0x01, 0xC3]),
      (805, [0x18, 0x01, 0x31]),
      (31, DERWriter.set(DERWriter.integer(2) + DERWriter.integer(1))),
      // Values that no type has, and what nests deeper than anybody reads.
      (806, [0x01, 0x01, 0x01]), (807, [0x02, 0x02, 0x00, 0x01]), (808, [0x05, 0x01, 0x00]),
      (809, [0x06, 0x00]),
      (810, [0x10, 0x00]), (811, [0x24, 0x02, 0x04, 0x00]), (812, [0x00, 0x00]), (813, [0x02, 0x01, 0x80]),
      (814, (0..<50).reduce([0x05, 0x00]) { inner, _ in DERWriter.sequence(inner) }),
    ] as [(UInt32, [UInt8])])
  func whatDoesNotMatter(number: UInt32, value: [UInt8]) throws {
    var phone = try AttestedPhone()
    phone.policy.minimumPatch = 202_601
    phone.description.hardware[number] = value
    #expect(try phone.rejection() == nil)
  }

  /// Genuine phones with Keymaster 4 write TRUE as 01.
  @Test(arguments: [0x01, 0x7F, 0x80, 0xFF] as [UInt8]) func anyOctetIsLocked(octet: UInt8) throws {
    var phone = try AttestedPhone()
    phone.description.hardware[Entry.rootOfTrust] = Self.lockedAs([0x01, 0x01, octet])
    #expect(try phone.rejection() == nil)
  }

  /// Entries of the software's list on which nothing hangs, in forms that they have nowhere; and the hardware's 709.
  @Test(arguments: [
    Entry.purpose, Entry.algorithm, Entry.keySize, Entry.curve, Entry.authenticators, Entry.origin,
    Entry.rootOfTrust, Entry.patch,
  ])
  func softwareThatDecidesNothing(number: UInt32) throws {
    for value in [[0x02, 0x02, 0x00, 0x01], [0x01, 0x01, 0x01], [0x30, 0x00], [0x02, 0x01, 0x80]] as [[UInt8]]
    {
      var phone = try AttestedPhone()
      phone.description.software[number] = value
      #expect(try phone.rejection() == nil)
      phone.description.hardware[Entry.applicationID] = value
      #expect(try phone.rejection() == nil)
    }
  }

  @Test(arguments: [
    Entry.noAuthentication, Entry.authenticationTimeout, Entry.allApplications, Entry.applicationID,
  ])
  func softwareThatDecides(number: UInt32) throws {
    var phone = try AttestedPhone()
    phone.description.software[number] = [0x01, 0x01, 0x01]
    #expect(try phone.rejection() == .description)
  }

  /// Android puts two numbers of the app's into 64 bits, and with the highest bit set they are negative.
  @Test(
    arguments: [[0x80, 0, 0, 1, 0, 0, 0, 7], [0xFF], [0x00, 0xFF, 0, 0, 0, 0, 0, 0, 0], [0, 1]] as [[UInt8]])
  func anyVersionOfAPackage(version: [UInt8]) throws {
    var phone = try AttestedPhone()
    let package = DERWriter.sequence(
      DERWriter.octetString(Array(AttestedPhone.package.utf8)), [0x02, UInt8(version.count)] + version)
    let digest = DERWriter.octetString(AttestedPhone.digest.array)
    phone.description.software[Entry.applicationID] = DERWriter.octetString(
      DERWriter.sequence(DERWriter.set(package), DERWriter.set(digest)))
    #expect(try phone.rejection() == nil)
  }

  /// A root of trust of a verified system whose second member is `element`.
  private static func lockedAs(_ element: [UInt8]) -> [UInt8] {
    DERWriter.sequence(DERWriter.octetString([]), element, [0x0A, 0x01, 0x00])
  }

  @Test(arguments: [Entry.keySize, Entry.curve, Entry.patch]) func mayBeAbsent(number: UInt32) throws {
    var phone = try AttestedPhone()
    phone.description.hardware[number] = nil
    #expect(try phone.rejection() == nil)
  }

  @Test func levels() throws {
    var phone = try AttestedPhone()
    phone.policy.required = .strongbox
    #expect(try phone.rejection() == .level)
    phone.policy.required = .tee
    phone.description.keyLevel = 2
    #expect(try phone.rejection() == .levelMismatch)
    // A trusted environment that calls itself StrongBox.
    phone.description.attestationLevel = 2
    #expect(try phone.rejection() == .levelOfChain)
    for level in [0, 3, 100] as [UInt32] {
      phone.description.attestationLevel = level
      phone.description.keyLevel = level
      #expect(try phone.rejection() == .level)
    }
    // And the other way round: whose words are those?
    phone.isStrongBox = true
    phone.description.attestationLevel = 1
    phone.description.keyLevel = 1
    #expect(try phone.rejection() == .levelOfChain)
  }

  @Test func challenges() throws {
    var phone = try AttestedPhone()
    for challenge in [[], Array(phone.challenge.array.dropLast()), phone.challenge.array + [0]] {
      phone.description.challenge = challenge
      #expect(try phone.rejection() == .challenge)
    }
    phone.description.challenge = phone.challenge.array
    phone.description.challenge[31] ^= 1
    #expect(try phone.rejection() == .challenge)
  }

  /// Each of these is a key that signs without a person, or whose person nobody has seen.
  @Test func peopleWhoAreNotThere() throws {
    var phone = try AttestedPhone(verifiesUser: true)
    phone.policy.requiresUserVerification = true
    #expect(try phone.rejection() == nil)
    let good = phone.description
    for (number, value) in [
      (Entry.noAuthentication, [0x05, 0x00]), (Entry.authenticationTimeout, DERWriter.integer(0)),
    ] {
      phone.description = good
      phone.description.software[number] = value
      #expect(try phone.rejection() == .userVerification)
      phone.description = good
      phone.description.hardware[number] = value
      #expect(try phone.rejection() == .userVerification)
    }
    for authenticators in [0, 1, 4, 0x8000_0001] as [UInt32] {
      phone.description = good
      phone.description.hardware[Entry.authenticators] = DERWriter.integer(authenticators)
      #expect(try phone.rejection() == .userVerification)
    }
    phone.description = good
    phone.description.software[Entry.authenticators] = phone.description.hardware.removeValue(
      forKey: Entry.authenticators)
    #expect(try phone.rejection() == .userVerification)
    phone.policy.requiresUserVerification = false
    #expect(try phone.verify().hasUserVerification == false)
  }
}

@Suite struct ApplicationTests {
  private typealias Entry = TestKeyDescription.Entry
  private static let digest = AttestedPhone.digest.array
  private static let other = [UInt8](repeating: 0xEE, count: 32)

  @Test(
    arguments: [
      ([AttestedPhone.package], [digest], nil), (["org.other.app", AttestedPhone.package], [digest], nil),
      ([], [digest], .package), (["org.other.app"], [digest], .package),
      ([AttestedPhone.package + "\0"], [digest], .package), (["org.example"], [digest], .package),
      ([AttestedPhone.package], [], .digest), ([AttestedPhone.package], [other], .digest),
      ([AttestedPhone.package], [digest, other], .digest),
      ([AttestedPhone.package], [Array(digest.dropLast())], .digest),
      // Of two known apps, one has the package and the other the digest.
      (["org.example.second"], [digest], .digest),
      (["org.example.second", AttestedPhone.package], [digest], nil),
      (["org.example.second", AttestedPhone.package], [digest, other], .digest),
    ] as [([String], [[UInt8]], AndroidKeyRejection?)])
  func packages(packages: [String], digests: [[UInt8]], rejection: AndroidKeyRejection?) throws {
    var phone = try AttestedPhone()
    let second = Bytes32(Self.other).flatMap { AndroidApp(package: "org.example.second", digests: [$0]) }
    phone.policy.apps += [second].compactMap(\.self)
    phone.description.software[Entry.applicationID] = TestKeyDescription.applicationID(
      packages: packages, digests: digests)
    #expect(try phone.rejection() == rejection)
  }

  /// Who signed one package is what all entries of it say together, and never what those of others do.
  @Test func packageListedTwice() throws {
    var phone = try AttestedPhone()
    let other = try #require(Bytes32(Self.other))
    phone.description.software[Entry.applicationID] = TestKeyDescription.applicationID(
      packages: [AttestedPhone.package], digests: [Self.digest, Self.other])
    phone.policy.apps += [AndroidApp(package: "org.example.second", digests: [other])].compactMap(\.self)
    #expect(try phone.rejection() == .digest)
    phone.policy.apps += [AndroidApp(package: AttestedPhone.package, digests: [other])].compactMap(\.self)
    #expect(try phone.rejection() == nil)
  }

  /// More than a certificate has elements.
  @Test func manyPackages() throws {
    var phone = try AttestedPhone()
    phone.description.software[Entry.applicationID] = TestKeyDescription.applicationID(
      packages: (0..<250).map { "org.app\($0)" } + [AttestedPhone.package], digests: [Self.digest])
    #expect(try phone.rejection() == nil)
  }

  @Test func noApplication() throws {
    var phone = try AttestedPhone()
    // What the hardware says of an application is not for it to say.
    phone.description.hardware[Entry.applicationID] = phone.description.software.removeValue(
      forKey: Entry.applicationID)
    #expect(try phone.rejection() == .applicationID)
    let good = TestKeyDescription.applicationID(packages: [AttestedPhone.package], digests: [Self.digest])
    let within = Array(good.dropFirst(2))
    let contents: [[UInt8]] = [
      [], [0x30, 0x00], within + [0x05, 0x00], [0x30, 0x80] + within.dropFirst(2) + [0x00, 0x00],
    ]
    for content in contents {
      phone.description.software[Entry.applicationID] = DERWriter.octetString(content)
      #expect(try phone.rejection() == .description)
    }
    phone = try AttestedPhone()
    phone.policy.apps = []
    #expect(try phone.rejection() == .package)
  }
}
