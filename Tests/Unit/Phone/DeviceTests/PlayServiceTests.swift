import Bytes
import Crypto
import Dialing
import Foundation
import Kit
import Obligation
import System
import Testing
import Time

@testable import Device

/// Tokens opened by a JOSE library that nobody here wrote.
@Suite(
  .enabled(if: Obligation.runs(Tool.path("python3") != nil, "python3"), "python3 is not installed"),
  .timeLimit(.minutes(2)))
struct PlayServiceTests {
  private let folder: TestFolder
  private let python: String
  private let service: TestPlayService
  private let claims = TestPlayService.Claims(
    package: "com.example.mud", signers: [Bytes32(words: 1, 2, 3, 4)], nonce: Bytes32(words: 5, 6, 7, 8),
    time: UnixTime(milliseconds: 1_800_000_000_123))

  init() throws {
    folder = try TestFolder("device-")
    python = try #require(Tool.path("python3"))
    service = try TestPlayService.create()
    for file in try service.files() { try folder.write(file.name, file.bytes) }
  }

  /// What the keys in the gate's file make of a token: its payload, or nothing.
  private func opened(_ token: String) throws -> [String: Any]? {
    let script = """
      import base64, json, sys
      from jwcrypto import jwe, jwk, jws
      from cryptography.hazmat.primitives.serialization import load_der_public_key
      pair = json.load(open(sys.argv[1]))[0]
      octets = base64.b64decode(pair["decryption_key"])
      outer = jwe.JWE(algs=["A256KW", "A256GCM"])
      outer.deserialize(sys.argv[2], jwk.JWK(kty="oct", k=base64.urlsafe_b64encode(octets).decode().rstrip("=")))
      inner = jws.JWS()
      inner.allowed_algs = ["ES256"]
      key = jwk.JWK.from_pyca(load_der_public_key(base64.b64decode(pair["verification_key"])))
      inner.deserialize(outer.payload.decode(), key)
      print(inner.payload.decode())
      """
    let keys = folder.file(TestPlayService.FileName.keys)
    let told = try Tool.run(python, ["-c", script, keys, token])
    if told.output.contains("No module named 'jwcrypto'") { return nil }
    #expect(told.status == 0, "\(told.output)")
    return try #require(JSONSerialization.jsonObject(with: Data(told.output.utf8)) as? [String: Any])
  }

  @Test(arguments: TestPlayService.Integrity.allCases)
  func aTokenSaysWhatWasClaimed(integrity: TestPlayService.Integrity) throws {
    var claims = claims
    claims.integrity = integrity
    guard let payload = try opened(service.token(claims)) else {
      print("python3-jwcrypto is not installed: no token was judged")
      #expect(!Obligation.runs(false, "jwcrypto"))
      return
    }
    let request = try #require(payload["requestDetails"] as? [String: Any])
    #expect(request["requestPackageName"] as? String == "com.example.mud")
    let nonce = Base64.encodeURL(claims.nonce.array.span)
    #expect(request["nonce"] as? String == nonce)
    #expect(request["timestampMillis"] as? String == "1800000000123")
    let app = try #require(payload["appIntegrity"] as? [String: Any])
    #expect(app["appRecognitionVerdict"] as? String == "PLAY_RECOGNIZED")
    let signer = Base64.encodeURL(claims.signers[0].array.span)
    #expect(app["certificateSha256Digest"] as? [String] == [signer])
    let device = try #require(payload["deviceIntegrity"] as? [String: Any])
    let labels = try #require(device["deviceRecognitionVerdict"] as? [String])
    #expect(labels.count == TestPlayService.Integrity.allCases.firstIndex(of: integrity))
  }

  @Test func itsFilesMakeItAgain() throws {
    let again = try TestPlayService.load(from: folder.path).files()
    let files = try service.files()
    #expect(again == files)
    #expect(files.filter(\.isSecret).count == 2)
    // By which a gate in production knows them.
    let keys = try JSONSerialization.jsonObject(with: Data(#require(files.first).bytes)) as? [[String: Any]]
    #expect(keys?.first?["development"] as? Bool == true)
    try folder.write(TestPlayService.FileName.keys, #"[{"decryption_key":"AAAA"}]"#)
    #expect(throws: DeviceError.self) { try TestPlayService.load(from: folder.path) }
  }
}
