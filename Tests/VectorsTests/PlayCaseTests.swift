/// A case of a Play Integrity token: what it needs, and that it is judged as the gate would.
import Bytes
import Crypto
import Foundation
import Testing
import Vectors

@Suite struct PlayCaseTests {
  private let good: [String: Any]

  init() throws {
    let nonce = Bytes32(.init(repeating: 0x3E))
    let certificate = Bytes32(.init(repeating: 0x3F))
    let wrapping = Bytes32(.init(repeating: 0x5A))
    let signing = try SigningKey.generate(.p256)
    let payload = """
      {"requestDetails":{"requestPackageName":"com.example.mud","timestampMillis":"1772452800000",\
      "nonce":"\(Base64.encodeURL(nonce.array.span))"},"appIntegrity":{"packageName":"com.example.mud",\
      "appRecognitionVerdict":"PLAY_RECOGNIZED","certificateSha256Digest":["\(certificate.base64)"]},\
      "deviceIntegrity":{"deviceRecognitionVerdict":["MEETS_DEVICE_INTEGRITY"]}}
      """
    let input = "\(Self.text(#"{"alg":"ES256"}"#)).\(Self.text(payload))"
    let signature = try signing.signES256(Array(input.utf8)).bytes
    let contents = Array("\(input).\(Base64.encodeURL(signature.span))".utf8)
    let header = Self.text(#"{"alg":"A256KW","enc":"A256GCM"}"#)
    let iv = [UInt8](repeating: 1, count: 12)
    let key = Bytes32(.init(repeating: 0xC4))
    let sealed = AES256GCM.seal(
      contents.span, nonce: iv.span, additionalData: Array(header.utf8).span, key: key)
    let rest = [AES256KeyWrap.wrap(key, under: wrapping), iv, sealed.ciphertext, sealed.tag]
    good = [
      "name": "good", "kind": "play-integrity",
      "token": ([header] + rest.map { Base64.encodeURL($0.span) }).joined(separator: "."),
      "keys": [
        [
          "decryption_key_b64": wrapping.base64,
          "verification_key_b64": Data(try signing.subjectPublicKeyInfo()).base64EncodedString(),
        ]
      ],
      "policy": [
        "apps": [["package": "com.example.mud", "cert_digests": [certificate.hex]]],
        "nonce": Base64.encodeURL(nonce.array.span), "now_ms": 1_772_452_801_000, "max_age_ms": 120_000,
        "required_level": "device",
      ] as [String: Any],
    ]
  }

  private static func text(_ text: String) -> String { Base64.encodeURL(Array(text.utf8).span) }

  private func judge(_ object: [String: Any]) throws -> VectorVerdict {
    let text = [UInt8](try JSONSerialization.data(withJSONObject: object))
    return try #require(try JudgedLine(text, P256Verifier()).verdict)
  }

  private func withPolicy(_ name: String, _ value: Any?) throws -> [String: Any] {
    var policy = try #require(good["policy"] as? [String: Any])
    policy[name] = value
    var object = good
    object["policy"] = policy
    return object
  }

  @Test func facts() throws {
    guard case .accept(let facts) = try judge(good) else {
      Issue.record("not accepted")
      return
    }
    #expect(facts.map(\.name) == ["package", "level", "made at"])
    #expect(facts.map(\.value) == ["com.example.mud", "device", "2026-03-02T12:00:00.000Z"])
  }

  @Test func policies() throws {
    for (name, value, check) in [
      ("required_level", "strong", "level"), ("max_age_ms", 999, "stale"),
      ("now_ms", 1_772_452_739_999, "future"), ("nonce", String(repeating: "A", count: 43), "nonce"),
      ("apps", [[String: Any]](), "request_package"),
    ] as [(String, Any, String)] {
      guard case .reject(check, _) = try judge(withPolicy(name, value)) else {
        Issue.record("\(name)")
        continue
      }
    }
  }

  @Test func mistakes() throws {
    for (name, values) in [
      ("required_level", [nil, "none", 7]), ("max_age_ms", [nil, -1, "1"]), ("now_ms", [nil, 1.5, -1]),
      ("nonce", [nil, "AA", 7]), ("apps", [nil, [7], [["package": "com.example.mud"]]]),
    ] as [(String, [Any?])] {
      for value in values {
        #expect(throws: VectorError.self, "\(name)") { try judge(withPolicy(name, value)) }
      }
    }
    for name in ["token", "keys", "policy"] {
      var object = good
      object[name] = nil
      #expect(throws: VectorError.self) { try judge(object) }
      object[name] = [7]
      #expect(throws: VectorError.self) { try judge(object) }
    }
  }

  @Test(arguments: ["prefix", "xor01", "drop", "zero-append"]) func sweeps(op: String) throws {
    let verdict = try judge([
      "name": "sweep", "kind": "sweep", "field": "token", "encoding": "text", "op": op, "base": good,
    ])
    guard case .reject("sweep", _) = verdict else {
      Issue.record("\(verdict)")
      return
    }
  }
}
