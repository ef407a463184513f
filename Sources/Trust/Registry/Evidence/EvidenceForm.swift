/// What a phone brings to prove what its keys are, as it came: judged by whoever has the chains and the counters.
package import Bytes
package import DeviceWire
internal import JSON

package enum EvidenceForm: Equatable, Sendable {
  /// A new App Attest key with its attestation, in CBOR.
  case attestation(KeyIdentifier, [UInt8])
  /// One that is registered already, with an assertion, in CBOR.
  case assertion(KeyIdentifier, [UInt8])
  /// A token of Play Integrity, as the app got it.
  case playIntegrity([UInt8])
  /// The device key's chain of certificates in DER, the leaf first, and the approval key's where one came.
  case androidKey([[UInt8]], approval: [[UInt8]]?)

  /// The names that `attestation_type` has for them.
  private enum Kind: String {
    case appAttest = "app_attest"
    case playIntegrity = "play_integrity"
    case androidKey = "android_key"
  }

  /// More than any chain has; which lengths are good is judged with the rest of it.
  private static let mostCertificates = 16

  /// From the members of an object; `attestation_type` says which.
  package init(_ form: Form) throws(FormError) {
    let type = try form.text("attestation_type") { $0 }
    guard let kind = Kind(rawValue: type) else {
      throw FormError(UnjudgedEvidence(rawValue: type)?.step ?? "attestation_type")
    }
    switch kind {
    case .appAttest: try self.init(appAttest: form)
    case .playIntegrity: self = .playIntegrity(try form.text("jws_token") { Array($0.utf8) })
    case .androidKey:
      self = .androidKey(
        try form.required("x5c", Self.chain), approval: try form.optional("approval_x5c", Self.chain))
    }
  }

  private init(appAttest form: Form) throws(FormError) {
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

  private static func chain(_ value: JSONValue) -> [[UInt8]]? {
    guard let members = value.array, (1...mostCertificates).contains(members.count) else { return nil }
    let certificates = members.compactMap { $0.string.flatMap(bytes) }
    return certificates.count == members.count ? certificates : nil
  }

  /// Whose phones have such evidence.
  package var platform: DevicePlatform {
    switch self {
    case .attestation, .assertion: .ios
    case .playIntegrity, .androidKey: .android
    }
  }

  /// Keys that do not exist are not vouched for, and a phone brings its own maker's evidence.
  func require(_ platform: DevicePlatform?, with keys: DeviceKeys) throws(FormError) {
    if let platform, platform != self.platform { throw FormError("evidence_platform") }
    if case .androidKey(_, _?) = self, keys.approval == nil { throw FormError("approval_x5c") }
  }
}

extension Form {
  /// The member `evidence`, where there is one.
  package func evidence() throws(FormError) -> EvidenceForm? {
    guard let member = object["evidence"] else { return nil }
    guard let object = member.object else { throw FormError("evidence") }
    return try EvidenceForm(within(object))
  }
}
