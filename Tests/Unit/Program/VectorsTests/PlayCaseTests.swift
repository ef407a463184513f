/// A case of a Play Integrity token: what it needs, and that it is judged as the gate would.
import Bytes
import Crypto
import Foundation
import Testing
import Vectors

@Suite struct PlayCaseTests {
  private let good: [String: Any]

  init() throws {
    good = try Self.good(package: "com.example.mud")
  }

  private static func good(package: String) throws -> [String: Any] {
    let nonce = Bytes32(.init(repeating: 0x3E))
    let certificate = Bytes32(.init(repeating: 0x3F))
    let wrapping = Bytes32(.init(repeating: 0x5A))
    let signing = try SigningKey.generate(.p256)
    let payload = """
      {"requestDetails":{"requestPackageName":"\(package)","timestampMillis":"1772452800000",\
      "nonce":"\(Base64.encodeURL(nonce.array.span))"},"appIntegrity":{"packageName":"\(package)",\
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
    return [
      "name": "good", "kind": "play-integrity",
      "token": ([header] + rest.map { Base64.encodeURL($0.span) }).joined(separator: "."),
      "keys": [
        [
          "decryption_key_b64": wrapping.base64,
          "verification_key_b64": Data(try signing.subjectPublicKeyInfo()).base64EncodedString(),
        ]
      ],
      "policy": [
        "apps": [["package": package, "cert_digests": [certificate.hex]]],
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
      ("apps", [["package": "com.example.mud", "cert_digests": [String]()]], "cert_digest"),
    ] as [(String, Any, String)] {
      guard case .reject(check, _) = try judge(withPolicy(name, value)) else {
        Issue.record("\(name)")
        continue
      }
    }
  }

  /// A case says what is known, whether Android would take it for a package or not.
  @Test func packagesOfOnePart() throws {
    guard case .accept = try judge(Self.good(package: "mud")) else {
      Issue.record("not accepted")
      return
    }
  }

  /// What is no key opens nothing, or has signed nothing.
  @Test(
    arguments: [
      ("decryption_key_b64", Array(repeating: 1, count: 31), "jwe_unwrap"),
      ("decryption_key_b64", [], "jwe_unwrap"), ("verification_key_b64", [4], "jws_signature"),
      (
        "verification_key_b64", P256Point.subjectPublicKeyInfoHead + Array(repeating: 1, count: 64),
        "jws_signature"
      ),
    ] as [(String, [UInt8], String)])
  func keysThatAreNone(name: String, key: [UInt8], check: String) throws {
    guard case .reject(check, _) = try judge(withKey(name, Base64.encode(key.span))) else {
      Issue.record("\(name)")
      return
    }
  }

  private func withKey(_ name: String, _ text: String) throws -> [String: Any] {
    var keys = try #require(good["keys"] as? [[String: Any]])
    keys[0][name] = text
    var object = good
    object["keys"] = keys
    return object
  }

  @Test(
    arguments: ["keys.0.decryption_key_b64", "keys.0.verification_key_b64"],
    ["prefix", "xor01", "ff", "drop", "zero-append"])
  func sweepsOfKeys(field: String, op: String) throws {
    let verdict = try judge([
      "name": "sweep", "kind": "sweep", "field": field, "encoding": "base64", "op": op, "base": good,
    ])
    guard case .reject("sweep", _) = verdict else {
      Issue.record("\(verdict)")
      return
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
