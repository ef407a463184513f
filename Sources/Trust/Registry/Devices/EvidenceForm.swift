/// What a phone brings to prove what its keys are, as it came: judged by whoever has the chains and the counters.
package import Bytes
internal import DeviceWire
internal import JSON

package enum EvidenceForm: Equatable, Sendable {
  /// A new App Attest key with its attestation, in CBOR.
  case attestation(KeyIdentifier, [UInt8])
  /// One that is registered already, with an assertion, in CBOR.
  case assertion(KeyIdentifier, [UInt8])

  /// From the members of an object; `attestation_type` says which.
  package init(_ form: Form) throws(FormError) {
    guard try form.text("attestation_type", { $0 }).isSameText(as: "app_attest") else {
      throw FormError("attestation_type")
    }
    let key = try form.text("key_id") { KeyIdentifier(base64: $0) }
    let attestation = try form.optionalText("att_obj", Self.bytes)
    let assertion = try form.optionalText("assertion", Self.bytes)
    switch (attestation, assertion) {
    case (let bytes?, nil): self = .attestation(key, bytes)
    case (nil, let bytes?): self = .assertion(key, bytes)
    case (nil, nil), (_?, _?): throw FormError("att_obj")
    }
  }

  private static func bytes(_ text: String) -> [UInt8]? { Base64.decode(Array(text.utf8).span) }
}

extension Form {
  /// The member `evidence`, where there is one.
  package func evidence() throws(FormError) -> EvidenceForm? {
    guard let member = object["evidence"] else { return nil }
    guard let object = member.object else { throw FormError("evidence") }
    return try EvidenceForm(within(object))
  }
}
