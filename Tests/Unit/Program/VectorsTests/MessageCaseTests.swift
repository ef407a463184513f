/// Messages as a phone would sign them, written here once more by the table of docs/devices.md, and each broken in one
/// place: the step that says so is the one that is about it.
import Bytes
import Crypto
import Foundation
import Testing
import Vectors

/// A valid case of each domain, with keys of its own.
private final class Phone {
  private let device: SigningKey
  private let approval: SigningKey
  private let newDevice: SigningKey
  private let newApproval: SigningKey

  init() throws {
    device = try SigningKey.generate(.p256)
    approval = try SigningKey.generate(.p256)
    newDevice = try SigningKey.generate(.p256)
    newApproval = try SigningKey.generate(.p256)
  }

  static let domains = [
    "enroll", "pair", "pair-sas", "device-auth", "rotate", "approval", "app-attest", "android-key",
    "play-nonce",
    "otp-issue", "presence",
  ]

  private let server = "0b0480cf-40e4-48b9-8521-fdfe74d4402a"
  private let second = "2d91add7-3c07-400a-88d5-329e7a211b38"
  private let third = "7b64a493-94b8-4f35-af58-1e60126a305d"
  private let nonce = String(repeating: "5a", count: 32)

  private func field(_ bytes: [UInt8]) -> [UInt8] {
    let count = bytes.count
    return [0, 0, UInt8(count >> 8), UInt8(count & 255)] + bytes
  }

  private func encode(_ domain: String, _ fields: [[UInt8]]) -> [UInt8] {
    ([Array("portcullis/\(domain)/v1".utf8)] + fields).flatMap(field)
  }

  private func id(_ text: String) -> [UInt8] { hex(text.replacing("-", with: "")) }

  private func hex(_ text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(digits[$0...($0 + 1)]), radix: 16) ?? 0
    }
  }

  private func time(_ seconds: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: seconds >> UInt64(56 - 8 * $0)) }
  }

  private func sha(_ bytes: [UInt8]) -> [UInt8] { SHA256.hash(bytes.span).array }

  private func hex(of bytes: [UInt8]) -> String { Hex.encode(bytes.span) }

  private func mac(of message: [UInt8], under secret: [UInt8]) -> String {
    HMACSHA256(key: secret.span).authenticate(message.span).hex
  }

  private func base64URL(_ bytes: [UInt8]) -> String { Base64.encodeURL(bytes.span) }

  func sign(_ message: [UInt8], as role: String) throws -> String {
    let der =
      switch role {
      case "device": try device.sign(message)
      case "approval": try approval.sign(message)
      case "new_device": try newDevice.sign(message)
      default: try newApproval.sign(message)
      }
    return Data(der).base64EncodedString()
  }

  func spki(_ role: String) throws -> [UInt8] {
    switch role {
    case "device": try device.subjectPublicKeyInfo()
    case "approval": try approval.subjectPublicKeyInfo()
    case "new_device": try newDevice.subjectPublicKeyInfo()
    default: try newApproval.subjectPublicKeyInfo()
    }
  }

  /// - Parameter alone: without an approval key, where there may be none.
  func makeCase(_ domain: String, alone: Bool = false) throws -> [String: Any] {
    let deviceHash = sha(try spki("device"))
    let approvalHash = alone ? [] : sha(try spki("approval"))
    let newHashes = [sha(try spki("new_device")), alone ? [] : sha(try spki("new_approval"))]
    var fields: [String: Any] = ["server_id": server, "nonce_hex": nonce]
    var roles = ["device"]
    var signers = ["device"]
    var more: [String: Any] = [:]
    let message: [UInt8]
    let both = alone ? ["device"] : ["device", "approval"]
    switch domain {
    case "enroll":
      fields["platform"] = "android"
      message = encode(domain, [id(server), deviceHash, approvalHash, hex(nonce), Array("android".utf8)])
      (roles, signers) = (both, both)
    case "pair":
      fields = [
        "pairing_id": second, "server_spki_sha256_hex": nonce,
        "commit_hex": String(repeating: "c3", count: 32),
        "device_name": "Zo\u{EB}\u{2019}s phone",
      ]
      message = encode(
        domain,
        [id(second), hex(nonce), deviceHash, approvalHash, [UInt8](repeating: 0xC3, count: 32)]
          + [Array("Zo\u{EB}\u{2019}s phone".utf8)])
      (roles, signers) = (both, both)
      more["pairing_secret_hex"] = String(repeating: "0f", count: 16)
      let secret = [UInt8](repeating: 0x0F, count: 16)
      more["mac_hex"] = mac(of: message, under: secret)
    case "pair-sas":
      let pair: [UInt8] = [1, 2, 3]
      let r = [UInt8](repeating: 0x77, count: 32)
      fields = [
        "pair_message_hex": "010203", "commit_hex": hex(of: sha(r)), "s_hex": nonce,
        "r_hex": Hex.encode(r.span),
      ]
      message = encode(domain, [sha(pair), hex(nonce), r])
      (roles, signers) = ([], [])
      let number = sha(message).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
      more["sas"] = String(String(1_000_000 + number).dropFirst())
    case "device-auth":
      fields.merge(["device_id": second, "purpose": "token", "audience": "game"]) { $1 }
      message = encode(domain, [id(server), id(second), hex(nonce), Array("token".utf8), Array("game".utf8)])
    case "rotate":
      fields["device_id"] = second
      message = encode(domain, [id(server), id(second)] + newHashes + [hex(nonce)])
      roles = ["device", "new_device"] + (alone ? [] : ["new_approval"])
      signers = roles
    case "approval":
      fields = [
        "server_id": server, "request_id": third, "device_id": second, "decision": 1, "match_code": "07",
        "summary_b64": Data("{}".utf8).base64EncodedString(), "issued_at": 1_772_452_811,
        "expires_at": 1_772_452_920,
      ]
      message = encode(
        domain,
        [id(server), id(third), id(second), [1], sha(Array("{}".utf8)), Array("07".utf8)]
          + [time(1_772_452_811), time(1_772_452_920)])
      (roles, signers) = (["approval"], ["approval"])
      more["issued_match_code"] = "07"
    case "app-attest", "play-nonce":
      message = encode(domain, [id(server), deviceHash, approvalHash, hex(nonce)])
      (roles, signers) = (both, [])
      if domain == "app-attest" {
        more["digest_hex"] = hex(of: sha(message))
      } else {
        more["nonce"] = base64URL(sha(message))
      }
    case "android-key":
      message = encode(domain, [id(server), hex(nonce)])
      (roles, signers) = ([], [])
      more["digest_hex"] = hex(of: sha(message))
    case "otp-issue":
      let signals = Array(#"{"rooted":false}"#.utf8)
      fields.merge(
        [
          "device_id": second, "challenge_id": third, "signed_at": 5,
          "signals": Base64.encodeURL(signals.span),
        ]) { $1 }
      message = encode(domain, [id(server), id(second), id(third), hex(nonce), time(5), sha(signals)])
    default:
      fields.merge(["device_id": second, "desktop_id": third, "signed_at": 5]) { $1 }
      message = encode(domain, [id(server), id(second), id(third), hex(nonce), time(5)])
    }
    var object: [String: Any] = [
      "name": domain, "kind": "message", "domain": "portcullis/\(domain)/v1", "fields": fields,
      "message_hex": hex(of: message),
    ]
    object.merge(more) { $1 }
    for role in roles { object["\(role)_key_spki_b64"] = Data(try spki(role)).base64EncodedString() }
    for role in signers { object["\(role)_signature_b64"] = try sign(message, as: role) }
    return object
  }
}

private func check(_ object: [String: Any]) throws -> String {
  let text = [UInt8](try JSONSerialization.data(withJSONObject: object))
  let judged = try JudgedLine(text, P256Verifier())
  switch judged.verdict {
  case .accept?: return "accept"
  case .reject(let check, _)?: return check
  case nil: return "unsupported"
  }
}

@Suite struct MessageCaseTests {
  private static let withApprovalKey = ["enroll", "pair", "rotate", "app-attest", "play-nonce"]

  @Test(arguments: Phone.domains) func goodOnes(domain: String) throws {
    let phone = try Phone()
    #expect(try check(phone.makeCase(domain)) == "accept")
    guard Self.withApprovalKey.contains(domain) else { return }
    #expect(try check(phone.makeCase(domain, alone: true)) == "accept")
  }

  /// Each field, of another value: the proof says so; of another type, or not there: `fields`.
  @Test(arguments: Phone.domains) func eachFieldCounts(domain: String) throws {
    let phone = try Phone()
    let good = try phone.makeCase(domain)
    let fields = try #require(good["fields"] as? [String: Any])
    for (name, value) in fields {
      var broken = good
      broken["message_hex"] = nil
      for other in [nil, true, [String]()] as [Any?] {
        var changed = fields
        changed[name] = other
        broken["fields"] = changed
        let word = try check(broken)
        #expect(word == "fields", "\(name)")
      }
      var changed = fields
      changed[name] = Self.another(value, name)
      broken["fields"] = changed
      let word = try check(broken)
      #expect(Self.proofs[domain]?.contains(word) == true, "\(name): \(word)")
      broken["message_hex"] = good["message_hex"]
      let encoded = try check(broken)
      #expect(["encoding", "fields", "commit"].contains(encoded), "\(name): \(encoded)")
    }
  }

  private static func another(_ value: Any, _ name: String) -> Any? {
    switch (value, name) {
    case (_, "platform"): return "ios"
    case (_, "purpose"): return "heartbeat"
    case (_, "match_code"): return "08"
    case (_, "signals"): return "e30"
    case (_, "summary_b64"): return "e30g"
    case (_, "decision"): return 3
    case (let number as Int, _): return number + 1
    case (let text as String, _):
      // The last digit or letter becomes another one of its kind.
      return String(text.dropLast()) + (text.hasSuffix("a") ? "b" : "a")
    default: return nil
    }
  }

  private static let proofs: [String: Set<String>] = [
    "enroll": ["device_signature"], "pair": ["mac"], "pair-sas": ["sas", "commit"],
    "device-auth": ["device_signature", "fields"], "rotate": ["device_signature"],
    "approval": ["approval_signature", "fields"], "app-attest": ["digest"], "android-key": ["digest"],
    "play-nonce": ["nonce"], "otp-issue": ["device_signature"], "presence": ["device_signature"],
  ]

  @Test(arguments: Phone.domains) func eachProofCounts(domain: String) throws {
    let phone = try Phone()
    let good = try phone.makeCase(domain)
    for name in good.keys where name.hasSuffix("_signature_b64") {
      let role = String(name.dropLast("_signature_b64".count))
      var broken = good
      broken[name] = nil
      #expect(try check(broken) == "\(role)_signature")
      broken[name] = try phone.sign([1, 2, 3], as: role)
      #expect(try check(broken) == "\(role)_signature")
      let signature = try #require((good[name] as? String).flatMap { Data(base64Encoded: $0) })
      for bytes in [signature + [0], signature.dropLast(), Data(), Data(signature.reversed())] {
        broken[name] = bytes.base64EncodedString()
        #expect(try check(broken) == "signature_der")
      }
    }
    for name in ["mac_hex", "sas", "digest_hex", "nonce"] where good[name] != nil {
      var broken = good
      let word = name.replacing("_hex", with: "")
      broken[name] = nil
      #expect(try check(broken) == word)
      let text = try #require(good[name] as? String)
      broken[name] = String(text.dropLast())
      #expect(try check(broken) == word)
      broken[name] = String(text.reversed()) == text ? text + "0" : String(text.reversed())
      #expect(try check(broken) == word)
    }
  }

  @Test(arguments: Phone.domains) func eachKeyCounts(domain: String) throws {
    let phone = try Phone()
    let good = try phone.makeCase(domain)
    for name in good.keys where name.hasSuffix("_key_spki_b64") {
      let role = String(name.dropLast("_key_spki_b64".count))
      let spki = try phone.spki(role)
      var broken = good
      broken[name] = nil
      broken["\(role)_key_x963_b64"] = Data(spki.suffix(65)).base64EncodedString()
      #expect(try check(broken) == "accept")
      for bytes in [[], spki.suffix(64), [0x02] + spki.suffix(64).prefix(32), spki.suffix(65) + [0]]
        as [[UInt8]]
      {
        broken["\(role)_key_x963_b64"] = Data(bytes).base64EncodedString()
        #expect(try check(broken) == "public_key")
      }
      broken = good
      var offCurve = spki
      offCurve[90] ^= 1
      for bytes in [offCurve, spki + [0], spki.dropLast(), Array(spki.suffix(65))] {
        broken[name] = Data(bytes).base64EncodedString()
        #expect(try check(broken) == "public_key")
      }
    }
    guard Self.withApprovalKey.contains(domain) else { return }
    let (first, other) = domain == "rotate" ? ("new_device", "new_approval") : ("device", "approval")
    var one = good
    one["\(other)_key_spki_b64"] = good["\(first)_key_spki_b64"]
    #expect(try check(one) == "same_key")
    one["\(other)_key_spki_b64"] = nil
    one["message_hex"] = nil
    let word = try check(one)
    #expect(one["\(other)_signature_b64"] == nil ? ["digest", "nonce"].contains(word) : word == "fields")
  }

  @Test func domainsAreThoseOfTheTable() throws {
    let good = try Phone().makeCase("presence")
    for domain in [
      "presence", "portcullis/presence", "portcullis/presence/v2", "PORTCULLIS/presence/v1",
      "portcullis/presence/v1 ",
      "portcullis/audit-head/v1", "",
    ] {
      var broken = good
      broken["domain"] = domain
      #expect(try check(broken) == "fields", "\(domain)")
    }
  }

  /// Only with a good signature is a wrong code told, as only then it counts.
  @Test func codesAreComparedLast() throws {
    let phone = try Phone()
    var object = try phone.makeCase("approval")
    object["issued_match_code"] = "70"
    #expect(try check(object) == "match_code")
    object["issued_match_code"] = ""
    #expect(try check(object) == "match_code")
    object["approval_signature_b64"] = try phone.sign([1], as: "approval")
    #expect(try check(object) == "approval_signature")
  }
}

@Suite struct SweepTests {
  private static func sweep(_ base: [String: Any], _ field: String, _ encoding: String, _ op: String)
    -> [String: Any]
  {
    [
      "name": "sweep", "kind": "sweep", "field": field, "encoding": encoding, "op": op, "base": base,
      "expect": ["result": "reject"],
    ]
  }

  @Test(arguments: ["prefix", "xor01", "ff", "drop", "zero-append"]) func variantsAreRefused(op: String)
    throws
  {
    let base = try Phone().makeCase("presence")
    #expect(try check(Self.sweep(base, "device_signature_b64", "base64", op)) == "sweep")
    #expect(try check(Self.sweep(base, "device_key_spki_b64", "base64", op)) == "sweep")
    #expect(try check(Self.sweep(base, "fields.nonce_hex", "hex", op)) == "sweep")
  }

  /// The version's digit in a member that nobody looks at: nothing refuses that.
  @Test func acceptedVariantsAreTold() throws {
    var base = try Phone().makeCase("presence")
    base["note"] = "v1"
    #expect(try check(Self.sweep(base, "note", "text", "xor01")) == "accept")
  }

  @Test func badBasesAreMistakes() throws {
    var base = try Phone().makeCase("presence")
    base["device_signature_b64"] = ""
    #expect(throws: VectorError.self) { try check(Self.sweep(base, "fields.nonce_hex", "hex", "drop")) }
    base = try Phone().makeCase("presence")
    #expect(throws: VectorError.self) { try check(Self.sweep(base, "fields.nothing", "hex", "drop")) }
    #expect(throws: VectorError.self) { try check(Self.sweep(base, "fields.nonce_hex", "hex", "rot13")) }
    base["kind"] = "receipt"
    #expect(try check(Self.sweep(base, "fields.nonce_hex", "hex", "drop")) == "unsupported")
  }
}
