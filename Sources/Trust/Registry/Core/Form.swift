/// The members of a request's body or of an operator's order, each read by the one form that it has: a member that is
/// there and wrong is never taken for one that is missing.
package import Bytes
package import Crypto
package import DeviceWire
package import JSON

package struct Form {
  package let object: JSONObject
  /// What keys are looked at with.
  private let verifier: P256Verifier

  package init(_ object: JSONObject, checkedBy verifier: P256Verifier) {
    self.object = object
    self.verifier = verifier
  }

  /// From a body; names that come twice are errors at any depth, and so is a body of more than `valueLimit` values.
  package init(body: Span<UInt8>, checkedBy verifier: P256Verifier) throws(FormError) {
    guard let object = (try? JSONValue(parsing: body, depthLimit: 16, valueLimit: Self.valueLimit))?.object
    else {
      throw FormError("json")
    }
    self.init(object, checkedBy: verifier)
  }

  /// Members and elements of a body, itself included: loops read them, of anybody. The largest honest one has 40.
  package static let valueLimit = 256

  /// A member that is an object itself, read in the same way.
  package func within(_ object: JSONObject) -> Form { Form(object, checkedBy: verifier) }

  /// What `read` makes of the member; nil where there is none.
  package func optional<Value>(
    _ name: String, _ read: (JSONValue) -> Value?
  ) throws(FormError) -> Value? {
    guard let member = object[name] else { return nil }
    guard let value = read(member) else { throw FormError(name) }
    return value
  }

  package func required<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(FormError) -> Value {
    guard let value = try optional(name, read) else { throw FormError(name) }
    return value
  }

  package func text<Value>(_ name: String, _ read: (String) -> Value?) throws(FormError) -> Value {
    try required(name) { $0.string.flatMap(read) }
  }

  package func optionalText<Value>(
    _ name: String, _ read: (String) -> Value?
  ) throws(FormError) -> Value? {
    try optional(name) { $0.string.flatMap(read) }
  }

  package func identifier<Kind>(_ name: String) throws(FormError) -> Identifier<Kind> {
    try text(name) { Identifier<Kind>($0) }
  }

  package func optionalIdentifier<Kind>(_ name: String) throws(FormError) -> Identifier<Kind>? {
    try optionalText(name) { Identifier<Kind>($0) }
  }

  /// 64 lower-case digits: nonces, hashes, MACs.
  package func hex(_ name: String) throws(FormError) -> Bytes32 { try text(name) { Bytes32(hex: $0) } }

  package func optionalHex(_ name: String) throws(FormError) -> Bytes32? {
    try optionalText(name) { Bytes32(hex: $0) }
  }

  package func signature(_ name: String) throws(FormError) -> DeviceSignature {
    try text(name) { DeviceSignature(base64: $0) }
  }

  package func optionalSignature(_ name: String) throws(FormError) -> DeviceSignature? {
    try optionalText(name) { DeviceSignature(base64: $0) }
  }

  /// Of a list, what a phone sends back of its answer: what was never given is as none.
  static func place(behind cursor: String?) -> Int64 {
    guard let cursor, let place = Int64(cursor), String(place) == cursor, place > 0 else { return 0 }
    return place
  }

  /// `device_pubkey` and, where there is one, `approval_pubkey`.
  package func keys() throws(FormError) -> DeviceKeys {
    let device = try text("device_pubkey") { DevicePublicKey(base64: $0, checkedBy: verifier) }
    let approval = try optionalText("approval_pubkey") { DevicePublicKey(base64: $0, checkedBy: verifier) }
    guard let keys = DeviceKeys(device: device, approval: approval) else {
      throw FormError("approval_pubkey")
    }
    return keys
  }
}
