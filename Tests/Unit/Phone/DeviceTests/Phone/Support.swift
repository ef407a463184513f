import Bytes
import Crypto
import Device
import DeviceWire
import JSON
import Testing

/// What a gate makes of a request: its members, and whether what is signed in it holds.
struct SentForm {
  let object: JSONObject

  init(_ request: PhoneRequest) throws {
    let body = try #require(request.body)
    object = try #require(JSONValue(parsing: body.span, depthLimit: 4).object)
  }

  init(_ object: JSONObject) {
    self.object = object
  }

  subscript(name: String) -> String? { object[name]?.string }

  var names: [String] { object.members.map(\.name) }

  /// Whether the member is a signature of this message by this key.
  func isSigned(_ name: String, _ message: DeviceMessage, by key: DevicePublicKey) throws -> Bool {
    let signature = try #require(self[name].flatMap { DeviceSignature(base64: $0) })
    return signature.isValid(for: message, by: key, verifier: P256Verifier())
  }

  /// The key in a member.
  func key(_ name: String) throws -> DevicePublicKey {
    try #require(self[name].flatMap { DevicePublicKey(base64: $0, checkedBy: P256Verifier()) })
  }
}

enum Sample {
  static let server = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
  static let device = "0f8fad5b-d9cb-469f-a165-70867728950e"
  static let nonce = Bytes32(words: 1, 2, 3, 4)

  static func challenge() throws -> PhoneChallenge {
    PhoneChallenge(nonce: nonce, server: try #require(ServerID(server)))
  }

  static func deviceID() throws -> DeviceID { try #require(DeviceID(device)) }

  static func approval(
    text: String = "to wizard", digits: Int = 2
  ) throws -> (json: String, summary: Summary) {
    let summary = try Summary(
      operation: "promote", target: .init([("player", "gandalf")]), text: text,
      requester: .init(id: "saruman"), service: "mud", subject: nil,
      policy: .init(level: .bare, userVerification: .app, quorum: 1, factors: ["device"]), lease: nil,
      createdAt: #require(UnixSeconds(1_800_000_000)))
    let bytes = Base64.encodeURL(summary.bytes.span)
    return (
      """
      {"id":"11111111-2222-4333-8444-555555555555","summary":"\(bytes)","match_digits":\(digits),\
      "created_at":1800000000,"expires_at":1800000060}
      """, summary
    )
  }
}
