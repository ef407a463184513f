/// Attestations verified a second, over distinct devices; the certificates of one go to files, for the floor.
internal import AppAttest
internal import Bytes
internal import Crypto
internal import Device
internal import Identity
internal import System
internal import Time

enum RegistrationMeasure {
  private static let devices = 256

  private struct Sample {
    let identifier: KeyIdentifier
    let attestation: [UInt8]
  }

  static func run(seconds: Double, leafPath: String, intermediatePath: String) throws -> Report {
    guard let appID = AppID(AssertionMeasure.app) else { throw Broken("not an app id") }
    let now = SystemClock().wall()
    let authority = try TestAttestationAuthority.create(now: now)
    let clientDataHash = SHA256.hash(Bytes32())
    var samples: [Sample] = []
    for _ in 0..<devices {
      let enclave = try SoftwareEnclave.generate(appID: AssertionMeasure.app, environment: .production)
      samples.append(
        Sample(
          identifier: enclave.keyIdentifier,
          attestation: try enclave.attest(clientDataHash: clientDataHash, by: authority, now: now)))
    }
    try WholeFile.write(
      leaf(of: samples[0].attestation, authority), to: leafPath, mode: 0o644, overwriting: true)
    try WholeFile.write(
      authority.intermediate.der, to: intermediatePath, mode: 0o644, overwriting: true)

    let policy = AttestationPolicy(apps: [appID])
    let root = authority.root.der
    let verifier = AttestationVerifier(root: try AttestationRoot(der: root.span))
    let clock = ProcessorClock()
    var done = 0
    while clock.seconds < seconds {
      let sample = samples[done % samples.count]
      let verdict = try verifier.verify(
        sample.attestation.span, keyID: sample.identifier, clientDataHash: clientDataHash, at: now,
        policy: policy)
      guard verdict.keyID == sample.identifier else { throw Broken("another key's verdict") }
      done += 1
    }
    return Report(("per_second", Double(done) / clock.seconds))
  }

  /// The first certificate stands right before the second one, whose bytes are known; both have the head of a
  /// byte string with two bytes of length (RFC 8949 §3).
  private static func leaf(of attestation: [UInt8], _ authority: TestAttestationAuthority) throws -> [UInt8] {
    let name = Array("x5c".utf8) + [0x82, 0x59]
    guard
      let start = (0..<attestation.count - name.count).first(where: { attestation[$0...].starts(with: name) })
    else { throw Broken("an attestation without x5c") }
    let head = start + name.count
    let length = Int(attestation[head]) << 8 | Int(attestation[head + 1])
    return Array(attestation[head + 2..<head + 2 + length])
  }
}
