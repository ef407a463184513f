/// Enrolments of new Android phones for challenges that a gate has issued, each with its key's attestation, one JSON body a
/// line, for the load generator.
internal import Bytes
internal import Crypto
internal import Device
internal import DeviceWire
internal import PortcullisDevice
internal import PortcullisProtocol
internal import System
internal import Time

enum EnrollmentBodies {
  /// - Parameters:
  ///   - authority: the folder of `dev-certs`.
  ///   - app: as `ANDROID_APPS` names one.
  ///   - server: the gate's id.
  static func make(
    authority folder: String, app: String, server: String, noncesPath: String, bodiesPath: String
  ) throws -> Report {
    let authority = try TestAndroidAuthority.load(from: folder)
    let now = SystemClock().wall()
    guard let app = try AndroidApp.list(parsing: app).first, let server = ServerID(server) else {
      throw Broken("no app, or no server")
    }
    let nonces = try WholeFile.lines(noncesPath)
    var bodies: [UInt8] = []
    for nonce in nonces {
      guard let nonce = Bytes32(hex: String(decoding: nonce, as: UTF8.self)) else {
        throw Broken("not a nonce")
      }
      let key = try PhoneKey.generate()
      guard let points = DevicePoints(device: key.name.point.x963, approval: nil) else {
        throw Broken("no key")
      }
      let description = TestKeyDescription(
        challenge: DeviceMessage.androidKey(server: server, nonce: nonce).hash.array, package: app.package,
        digests: Array(app.digests))
      let chain = try authority.certify(subjectPublicKeyInfo: key.name.spki, description, now: now)
      let message = DeviceMessage.enroll(
        server: server, keys: points.hashes, nonce: Octets32(nonce), platform: .android)
      var signatures = Signatures()
      signatures.device = try key.sign(message.bytes)
      let request = DeviceCall.enroll(
        points, platform: .android, name: nil, nonce: Octets32(nonce), signatures,
        evidence: .keyChains(device: chain, approval: nil))
      bodies += request.body ?? []
      bodies.append(UInt8(ascii: "\n"))
    }
    try WholeFile.write(bodies, to: bodiesPath, mode: 0o600, overwriting: true)
    return Report(("bodies", Double(nonces.count)))
  }
}
