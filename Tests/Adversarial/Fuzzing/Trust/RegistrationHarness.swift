/// The body of `POST /attest/register`: what is accepted can be written anew, and then says the same.
@testable internal import AppAttest
internal import Bytes
internal import JSON

enum RegistrationHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let body = try? RegistrationBody(bytes) else { return .refused }
    guard let object = try? JSONValue(parsing: bytes.span, depthLimit: RegistrationBody.depthLimit).object
    else { throw BrokenProperty("accepted, but no JSON object") }
    try require((object["clientData"] == nil) != (object["nonce"] == nil), "both names of the nonce, or none")
    try require(object["keyId"]?.string.map { $0.utf8.count == 43 || $0.utf8.count == 44 } ?? false, "key id")

    var writer = JSONWriter()
    writer.beginObject()
    writer.name("keyId")
    writer.value(body.keyID.base64)
    writer.name("attestation")
    writer.value(Base64.encode(body.attestation.span))
    writer.name("nonce")
    writer.value(body.nonce.hex)
    writer.endObject()
    guard let again = try? RegistrationBody(writer.bytes) else {
      throw BrokenProperty("refused when rewritten")
    }
    try require(
      again.keyID == body.keyID && again.attestation == body.attestation && again.nonce == body.nonce,
      "another body when rewritten")
    return .accepted
  }
}
