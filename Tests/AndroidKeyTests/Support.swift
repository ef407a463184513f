/// A phone whose key is attested by an authority of the tests, good unless something is broken on purpose.
import Bytes
import Crypto
import Device
import DeviceWire
import System

@testable import AndroidKey

struct AttestedPhone {
  let authority: TestAndroidAuthority
  let key: SigningKeyBox
  var description: TestKeyDescription
  var isStrongBox = false
  var policy: AndroidKeyPolicy
  let challenge = Bytes32((0..<32).map { UInt8($0) }) ?? Bytes32()

  static let package = "org.example.game"
  static let digest = Bytes32([UInt8](repeating: 0xD1, count: 32)) ?? Bytes32()
  static let now = UnixTime(milliseconds: 1_767_225_600_000)

  init(isStrongBox: Bool = false, verifiesUser: Bool = false) throws {
    authority = try TestAndroidAuthority.create(now: Self.now)
    key = SigningKeyBox(try SigningKey.generate(.p256))
    description = TestKeyDescription(
      challenge: challenge.array, package: Self.package, digests: [Self.digest], isStrongBox: isStrongBox,
      verifiesUser: verifiesUser)
    self.isStrongBox = isStrongBox
    policy = AndroidKeyPolicy(
      roots: [try authority.rootHash()],
      apps: [AndroidApp(package: Self.package, digests: [Self.digest])].compactMap(\.self),
      now: UnixSeconds(Self.now), revocation: .empty, revocationAge: 0)
  }

  func chain() throws -> [[UInt8]] {
    try authority.certify(
      subjectPublicKeyInfo: key.key.subjectPublicKeyInfo(), description, isStrongBox: isStrongBox,
      now: Self.now)
  }

  func verify(_ chain: [[UInt8]]? = nil) throws -> AndroidKeyVerdict {
    let chain = try chain ?? self.chain()
    return try AndroidKeyVerifier().verify(
      chain: chain, challenge: challenge, key: key.key.point(), policy: policy)
  }

  /// The word of the broken rule; nil when all is well.
  func rejection(_ chain: [[UInt8]]? = nil) throws -> AndroidKeyRejection? {
    do {
      _ = try verify(chain)
      return nil
    } catch let error as AndroidKeyRejection {
      return error
    }
  }
}

/// A key that can be copied about.
final class SigningKeyBox: Sendable {
  let key: SigningKey

  init(_ key: consuming SigningKey) {
    self.key = key
  }
}
