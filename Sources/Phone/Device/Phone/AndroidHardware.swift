/// The secure hardware of an Android phone in software: it describes keys, and has a test authority certify that
/// (docs/android.md, "Key attestation").
internal import Bytes
internal import Crypto
package import DeviceWire
internal import Dialing
internal import PortcullisDevice
internal import Time

package struct AndroidHardware {
  /// What the boot loader has found, by its number in the root of trust.
  package enum BootState: String, CaseIterable, Sendable {
    case verified
    case selfSigned = "self-signed"
    case unverified, failed

    fileprivate var number: UInt32 {
      switch self {
      case .verified: 0
      case .selfSigned: 1
      case .unverified: 2
      case .failed: 3
      }
    }
  }

  package enum SecurityLevel: String, CaseIterable, Sendable {
    case tee, strongbox
  }

  package let app: AndroidApp
  package let authority: TestAndroidAuthority
  package var level = SecurityLevel.tee
  package var bootState = BootState.verified
  package var isLocked = true
  /// Whether the approval key signs for a finger or a face alone.
  package var verifiesUser = true
  /// Without it the keys are attested for another request than the gate's.
  package var heedsChallenge = true

  package init(_ app: AndroidApp, _ authority: TestAndroidAuthority) {
    self.app = app
    self.authority = authority
  }

  /// A phone makes its keys with the challenge. These were made before, which their certificates do not tell.
  func statement(
    for points: DevicePoints, _ challenge: DeviceChallenge
  ) throws(DeviceError) -> DeviceEvidence {
    let message = DeviceMessage.androidKey(server: challenge.server, nonce: challenge.nonce)
    let attested = heedsChallenge ? message.hash : Bytes32()
    do throws(IssuingError) {
      return .keyChains(
        device: try chain(points.device, attested, verifiesUser: false),
        approval: try points.approval.map { point throws(IssuingError) in
          try chain(point, attested, verifiesUser: verifiesUser)
        })
    } catch {
      throw .issuing(error)
    }
  }

  private func chain(
    _ point: [UInt8], _ challenge: Bytes32, verifiesUser: Bool
  ) throws(IssuingError) -> [[UInt8]] {
    var description = TestKeyDescription(
      challenge: challenge.array, package: app.package, digests: Array(app.digests),
      isStrongBox: level == .strongbox, verifiesUser: verifiesUser)
    description.hardware[TestKeyDescription.Entry.rootOfTrust] = TestKeyDescription.rootOfTrust(
      isLocked: isLocked, bootState: bootState.number)
    return try authority.certify(
      subjectPublicKeyInfo: DevicePoints.spki(point), description, isStrongBox: level == .strongbox,
      now: SystemClock().wall())
  }
}
