/// Chains of Android keys verified a second, over distinct devices; the certificates of one go to files, for the floor.
internal import AndroidKey
internal import Bytes
internal import Crypto
internal import Device
internal import DeviceWire
internal import System
internal import Time

enum AndroidKeyMeasure {
  private static let devices = 256
  private static let package = "org.example.game"

  private struct Sample {
    let point: P256Point
    let chain: [[UInt8]]
  }

  /// - Parameter folder: gets `0.der`, the leaf, to `3.der`, the root.
  static func run(seconds: Double, folder: String) throws -> Report {
    let now = SystemClock().wall()
    let authority = try TestAndroidAuthority.create(now: now)
    let digest = SHA256.hash(Array("a signer".utf8).span)
    let challenge = SHA256.hash(Bytes32())
    var samples: [Sample] = []
    for _ in 0..<devices {
      let key = try SigningKey.generate(.p256)
      let description = TestKeyDescription(
        challenge: challenge.array, package: package, digests: [digest], verifiesUser: true)
      samples.append(
        Sample(
          point: try key.point(),
          chain: try authority.certify(
            subjectPublicKeyInfo: key.subjectPublicKeyInfo(), description, now: now)))
    }
    for (index, der) in samples[0].chain.enumerated() {
      try WholeFile.write(der, to: "\(folder)/\(index).der", mode: 0o644, overwriting: true)
    }
    let policy = AndroidKeyPolicy(
      roots: [try authority.rootHash()], requiresUserVerification: true,
      apps: [AndroidApp(package: package, digests: [digest])].compactMap(\.self), now: UnixSeconds(now),
      revocation: .empty, revocationAge: 0)
    let verifier = AndroidKeyVerifier()
    let clock = ProcessorClock()
    var done = 0
    while clock.seconds < seconds {
      let sample = samples[done % samples.count]
      let verdict = try verifier.verify(
        chain: sample.chain, challenge: challenge, key: sample.point, policy: policy)
      guard verdict.hasUserVerification else { throw Broken("another verdict") }
      done += 1
    }
    return Report(("per_second", Double(done) / clock.seconds))
  }
}
