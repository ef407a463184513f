/// Verdicts on Android key attestations that the vectors leave open, as both answers can be defended: ours
/// (docs/android.md, "Steps of a key attestation").
import Crypto
import Testing
import Vectors

@Suite struct AndroidKeyCaseTests {
  /// The root is pinned by its key, and what it says of itself is worth nothing. A default that is written out means the same,
  /// and no date of the leaf's decides anything; what decides has its one form.
  private static let decisions: [String: String?] = [
    "ak-chain-root-own-signature-broken": nil,
    "ak-extension-critical": nil,
    "ak-certificate-leaf-encoded-default-false": nil,
    "ak-certificate-leaf-critical-boolean-01": "cert_der",
    "ak-dates-leaf-date-text": nil,
  ]

  @Test func decisions() throws {
    // Said and counted by DeviceVectorTests.
    guard let lines = VectorFile.lines("devices/android-key.jsonl") else { return }
    var found: [String: String?] = [:]
    for line in lines {
      let judged = try JudgedLine(line, P256Verifier())
      guard judged.expectation?.result == .policy, let verdict = judged.verdict else { continue }
      switch verdict {
      case .accept: found.updateValue(nil, forKey: judged.name)
      case .reject(let check, _): found.updateValue(check, forKey: judged.name)
      }
    }
    #expect(found == Self.decisions)
  }
}
