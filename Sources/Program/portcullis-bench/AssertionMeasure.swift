/// Assertions verified a second as a loop of the gate does it: each by another key, or all by one.
internal import AppAttest
internal import Bytes
internal import Crypto
internal import Device
internal import Identity

enum AssertionMeasure {
  static let app = "BENCHMARKS.com.example.mud"
  private static let distinctKeys = 10_000

  private struct Sample {
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
          point: enclave.point, assertion: try enclave.assert(clientDataHash: clientDataHash)))
    }
    let distinct = try rate(samples, clientDataHash, appID, policy, seconds: seconds)
    let hot = try rate(Array(samples.prefix(1)), clientDataHash, appID, policy, seconds: seconds)
    return Report(("distinct_per_second", distinct), ("hot_per_second", hot))
  }

  private static func rate(
    _ samples: [Sample], _ clientDataHash: Bytes32, _ appID: AppID, _ policy: AttestationPolicy,
    seconds: Double
  ) throws -> Double {
    let verifier = AssertionVerifier()
    let clock = ProcessorClock()
    var done = 0
    while clock.seconds < seconds {
      for _ in 0..<16 {
        let sample = samples[done % samples.count]
        let key = RegisteredKey(
          publicKey: sample.point, appID: appID, environment: .production, storedCounter: 0)
        let verdict = try verifier.verify(
          sample.assertion.span, clientDataHash: clientDataHash, by: key, policy: policy)
        guard verdict.signCount == 1 else { throw Broken("a counter of \(verdict.signCount)") }
        done += 1
      }
    }
    return Double(done) / clock.seconds
  }
}
