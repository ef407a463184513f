import Bytes
import Testing

@testable import AppAttest

/// The body of `POST /attest/register` (docs/protocol.md, "Registration"): valid to begin with, and one thing changed
/// at a time.
@Suite struct RegistrationBodyTests {
  private static let keyID = "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="
  private static let urlKeyID = "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA"
  private static let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

  private static func body(
    keyID: String = "\"\(keyID)\"", attestation: String = #""o2Nm""#,
    nonce: String = #""clientData":"\#(hex)""#,
    more: String = ""
  ) -> String {
    #"{"keyId":\#(keyID),"attestation":\#(attestation),\#(nonce)\#(more)}"#
  }

  /// The step of a refusal, nil when there is none.
  private static func step(_ text: String) -> String? {
    do throws(RegistrationBody.Malformed) {
      _ = try RegistrationBody(Array(text.utf8))
      return nil
    } catch {
      return error.step
    }
  }

  @Test(arguments: [
    body(), body(keyID: "\"\(urlKeyID)\""), body(keyID: "\"\(urlKeyID)=\""), body(attestation: #""o2Nm""#),
    body(nonce: #""nonce":"\#(hex)""#),
    // Names are compared after unescaping (RFC 8259 §8.3), values are what they stand for.
    body(nonce: #""client\u0044ata":"\#(hex)""#), body(nonce: #""\u006eonce":"\#(hex)""#),
    body(keyID: "\"\\/\\u002f" + keyID.dropFirst(2) + "\""),
    // Unknown members, of whatever kind, up to the depth that is allowed.
    body(more: #","device":null,"list":[1,{"a":[true]}],"n":1e9"#), body(more: #","x":[[[[[[[]]]]]]]"#),
    " \n" + body() + "\t\r\n",
  ])
  func accepted(text: String) throws {
    let body = try RegistrationBody(Array(text.utf8))
    #expect(body.keyID.base64 == Self.keyID)
    #expect(body.attestation == [0xA3, 0x63, 0x66])
    #expect(body.nonce.array == (0..<32).map { UInt8($0) })
  }

  @Test(arguments: [
    ("no object", "[]", "json_object"), ("a string", #""x""#, "json_object"),
    ("no key id", #"{"attestation":"o2Nm","clientData":"\#(hex)"}"#, "key_id"),
    ("a key id of null", body(keyID: "null"), "key_id"), ("a number", body(keyID: "1"), "key_id"),
    ("an empty key id", body(keyID: "\"\""), "key_id"),
    ("31 bytes", body(keyID: "\"\(keyID.dropFirst(4))\""), "key_id"),
    ("mixed alphabets", body(keyID: "\"_" + keyID.dropFirst(1) + "\""), "key_id"),
    ("no padding", body(keyID: "\"\(keyID.dropLast())\""), "key_id"),
    ("no attestation", #"{"keyId":"\#(keyID)","clientData":"\#(hex)"}"#, "attestation_base64"),
    ("spare bits", body(attestation: #""o2N""#.replacing("N", with: "P")), "attestation_base64"),
    ("a line break", body(attestation: #""o2\nNm""#), "attestation_base64"),
    ("an array", body(attestation: #"["o2Nm"]"#), "attestation_base64"),
    ("neither name", body(nonce: #""x":1"#), "client_data"),
    ("both names", body(more: #","nonce":"\#(hex)""#), "client_data_and_nonce"),
    ("both, one of them null", body(more: #","nonce":null"#), "client_data_and_nonce"),
    ("both, one escaped", body(more: #","\u006eonce":"\#(hex)""#), "client_data_and_nonce"),
    ("upper case", body(nonce: #""nonce":"\#(hex.uppercased())""#), "client_data"),
    ("31 bytes of hex", body(nonce: #""nonce":"\#(hex.dropLast(2))""#), "client_data"),
    ("33 bytes of hex", body(nonce: #""nonce":"\#(hex)00""#), "client_data"),
    ("an odd digit", body(nonce: #""nonce":"\#(hex)0""#), "client_data"),
    ("a nonce that is no string", body(nonce: #""nonce":[]"#), "client_data"),
    ("empty", body(nonce: #""nonce":"""#), "client_data"),
  ])
  func refused(what: String, text: String, step: String) {
    #expect(Self.step(text) == step)
  }

  /// Whatever is wrong with the JSON itself.
  @Test(arguments: [
    ("nothing", ""), ("cut", String(body().dropLast())), ("two values", body() + "{}"),
    ("a duplicate", body(more: #","keyId":"x""#)),
    ("an escaped duplicate", body(more: #","key\u0049d":"x""#)),
    ("a duplicate among the unknown", body(more: #","a":1,"a":2"#)),
    ("a duplicate further in", body(more: #","a":{"b":1,"b":2}"#)),
    ("too deep", body(more: #","x":[[[[[[[[]]]]]]]]"#)), ("a trailing comma", body(more: ",")),
    ("a comment", "/**/" + body()), ("a byte order mark", "\u{FEFF}" + body()),
    ("single quotes", "{'keyId':1}"),
    ("half a surrogate", body(more: #","x":"\ud800""#)), ("a raw control", body(more: ",\"x\":\"\u{1}\"")),
  ])
  func badJSON(what: String, text: String) {
    let step = Self.step(text)
    #expect(step?.hasPrefix("json_") == true, "\(what): \(step ?? "accepted")")
  }

  /// At the limit and above it: the body is a value, and so is each of its three members.
  @Test(arguments: [(60, nil), (61, "json_too_many_values")] as [(Int, String?)])
  func howManyValuesItHas(more: Int, step: String?) {
    let members = (0..<more).map { ",\"\($0)\":1" }.joined()
    #expect(Self.step(Self.body(more: members)) == step)
    let elements = (0..<more - 1).map { _ in "1" }.joined(separator: ",")
    #expect(Self.step(Self.body(more: ",\"x\":[\(elements)]")) == step)
  }

  @Test func bytesThatAreNoText() throws {
    var bytes = Array(Self.body(more: #","x":"?""#).utf8)
    let place = try #require(bytes.firstIndex(of: UInt8(ascii: "?")))
    bytes[place] = 0xFF
    #expect(throws: RegistrationBody.Malformed.self) { try RegistrationBody(bytes) }
  }
}
