/// Assertions verified a second as a loop of the gate does it: by the keys it keeps at hand, or made from the
/// point.
internal import AppAttest
internal import Bytes
internal import Crypto
internal import Device
internal import Gateway

enum AssertionMeasure {
  static let app = "BENCHMARKS.com.example.mud"
  /// Ten times what a loop keeps at hand, so that hardly any of them is there.
  private static let distinctKeys = 10_000

  private struct Sample {
    let identifier: KeyIdentifier
    let point: P256Point
    let assertion: [UInt8]
  }

  static func run(seconds: Double) throws -> Report {
    guard let appID = AppID(app) else { throw Broken("not an app id: \(app)") }
    let policy = AttestationPolicy(apps: [appID])
    let clientDataHash = SHA256.hash(Bytes32())
    var samples: [Sample] = []
    for _ in 0..<distinctKeys {
      let enclave = try SoftwareEnclave.generate(appID: app, environment: .production)
      samples.append(
        Sample(
          identifier: enclave.keyIdentifier, point: enclave.point,
          assertion: try enclave.assert(clientDataHash: clientDataHash)))
    }
    let distinct = try rate(samples, clientDataHash, appID, policy, seconds: seconds)
    let hot = try rate(Array(samples.prefix(1)), clientDataHash, appID, policy, seconds: seconds)
    return Report(("distinct_per_second", distinct), ("hot_per_second", hot))
  }

  private static func rate(
    _ samples: [Sample], _ clientDataHash: Bytes32, _ appID: AppID, _ policy: AttestationPolicy,
    seconds: Double
  ) throws -> Double {
    let keys = HotKeys()
    let clock = ProcessorClock()
    var done = 0
    while clock.seconds < seconds {
      for _ in 0..<16 {
        let sample = samples[done % samples.count]
        guard let verificationKey = keys.key(for: sample.identifier, point: sample.point) else {
          throw Broken("a point that is not on the curve")
        }
        let key = RegisteredKey(
          verificationKey: verificationKey, appID: appID, environment: .production, storedCounter: 0)
        let verdict = try AssertionVerifier.verify(
          sample.assertion.span, clientDataHash: clientDataHash, by: key, policy: policy)
        guard verdict.signCount == 1 else { throw Broken("a counter of \(verdict.signCount)") }
        done += 1
      }
    }
    return Double(done) / clock.seconds
  }
}
