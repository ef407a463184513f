import Bytes
import Crypto
import DeviceWire
import Dialing
import Kit
import Obligation
import PortcullisDevice
import System
import Testing
import Time

@testable import Device

/// What a phone's hardware says of its keys: chains judged by `openssl`, descriptions by their bytes.
@Suite(
  .enabled(if: Obligation.runs(Tool.openssl != nil, "openssl"), "openssl is not installed"),
  .timeLimit(.minutes(2)))
struct AndroidHardwareTests {
  private let folder: TestFolder
  private let openssl: String
  private let keys: DevicePoints
  private let challenge: DeviceChallenge
  private let hardware: AndroidHardware

  init() throws {
    folder = try TestFolder("device-")
    openssl = try #require(Tool.openssl)
    keys = try Self.points()
    challenge = DeviceChallenge(
      nonce: Octets32(Bytes32(words: 1, 2, 3, 4)), server: ServerID(random: KernelEntropy()))
    let app = AndroidApp(package: "com.example.mud", digests: [Bytes32(words: 1, 2, 3, 4)])
    hardware = AndroidHardware(try #require(app), try .create(now: SystemClock().wall()))
  }

  private static func points(withApproval: Bool = true) throws -> DevicePoints {
    let approval = try withApproval ? PhoneKey.generate().name.point.x963 : nil
    return try #require(DevicePoints(device: PhoneKey.generate().name.point.x963, approval: approval))
  }

  private func chains(_ hardware: AndroidHardware) throws -> (device: [[UInt8]], approval: [[UInt8]]) {
    guard case .keyChains(let device, let approval) = try hardware.statement(for: keys, challenge) else {
      throw DeviceError.counterExhausted
    }
    return (device, try #require(approval))
  }

  private func holds(_ certificate: [UInt8], _ bytes: [UInt8]) -> Bool {
    certificate.firstRange(of: bytes) != nil
  }

  @Test(arguments: AndroidHardware.SecurityLevel.allCases)
  func eachKeyHasAChainToTheRoot(level: AndroidHardware.SecurityLevel) throws {
    var hardware = hardware
    hardware.level = level
    let (device, approval) = try chains(hardware)
    for chain in [device, approval] {
      #expect(chain.count == 4 && chain.last == hardware.authority.root.der)
      let pem = chain.map { IssuedCertificate(der: $0).pem }
      let leaf = try folder.write("leaf.pem", pem[0])
      let between = try folder.write("between.pem", pem[1] + pem[2])
      let root = try folder.write("root.pem", pem[3])
      let verdict = try Tool.run(
        openssl, ["verify", "-purpose", "any", "-CAfile", root, "-untrusted", between, leaf])
      #expect(verdict.status == 0, "\(verdict.output)")
    }
    #expect(holds(device[0], DevicePoints.spki(keys.device)))
    let approvalKey = try #require(keys.approval)
    #expect(holds(approval[0], DevicePoints.spki(approvalKey)))
    #expect(holds(device[1], Array("StrongBox".utf8)) == (level == .strongbox))
  }

  @Test func theyAreOfTheGatesChallenge() throws {
    let attested = DeviceMessage.androidKey(server: challenge.server, nonce: challenge.nonce).hash
    let (device, approval) = try chains(hardware)
    #expect(holds(device[0], attested.array) && holds(approval[0], attested.array))
    var other = hardware
    other.heedsChallenge = false
    let wrong = try chains(other)
    #expect(!holds(wrong.device[0], attested.array) && !holds(wrong.approval[0], attested.array))
  }

  /// What is said of the phone stands in the description, and nowhere else.
  @Test func aPhoneInDisorderSaysSo() throws {
    let good = TestKeyDescription.rootOfTrust()
    #expect(holds(try chains(hardware).device[0], good))
    var broken = hardware
    broken.isLocked = false
    broken.bootState = .unverified
    let leaf = try chains(broken).device[0]
    #expect(!holds(leaf, good) && holds(leaf, TestKeyDescription.rootOfTrust(isLocked: false, bootState: 2)))
  }

  /// [503] NULL: no authentication is asked for. The device key never asks.
  @Test(arguments: [true, false]) func theApprovalKeyAsksForAPerson(verifiesUser: Bool) throws {
    var hardware = hardware
    hardware.verifiesUser = verifiesUser
    let none = DERWriter.explicit(TestKeyDescription.Entry.noAuthentication, [0x05, 0x00])
    let (device, approval) = try chains(hardware)
    #expect(holds(device[0], none))
    #expect(holds(approval[0], none) == !verifiesUser)
  }

  @Test func aPhoneWithoutApprovalKeyHasOneChain() throws {
    let alone = try Self.points(withApproval: false)
    guard case .keyChains(_, nil) = try hardware.statement(for: alone, challenge) else {
      Issue.record("a chain of no key")
      return
    }
  }
}
