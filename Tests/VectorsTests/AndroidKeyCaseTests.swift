/// Verdicts on Android key attestations that the vectors leave open, as both answers can be defended: ours
/// (docs/android.md, "Steps of a key attestation").
import Crypto
import Foundation
import Obligation
import Testing
import Vectors

@Suite struct AndroidKeyCaseTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../shared/vectors/devices/android-key.jsonl").standardizedFileURL

  /// The root is pinned by its key, and what it says of itself is worth nothing; a certificate is DER or none.
  private static let decisions: [String: String?] = [
    "ak-chain-root-own-signature-broken": nil,
    "ak-extension-critical": nil,
    "ak-certificate-leaf-encoded-default-false": "cert_der",
    "ak-certificate-leaf-critical-boolean-01": "cert_der",
    "ak-dates-leaf-date-text": "cert_der",
  ]

  @Test func decisions() throws {
    guard let contents = try? Data(contentsOf: Self.file) else {
      print("no vectors at \(Self.file.path()): nothing to test here")
      #expect(!Obligation.runs(false, "vectors"))
      return
    }
    var found: [String: String?] = [:]
    for line in [UInt8](contents).split(separator: UInt8(ascii: "\n")) {
      let judged = try JudgedLine(Array(line), P256Verifier())
      guard judged.expectation?.result == .policy, let verdict = judged.verdict else { continue }
      switch verdict {
      case .accept: found.updateValue(nil, forKey: judged.name)
      case .reject(let check, _): found.updateValue(check, forKey: judged.name)
      }
    }
    #expect(found == Self.decisions)
  }
}
