/// A good case, and one change after the other in every place of one of its values: each is refused.
internal import Bytes
package import Crypto
internal import JSON

package struct Sweep: Sendable {
  package let name: String
  package let expectation: Expectation?
  private let base: JSONObject
  private let path: [String]
  private let encoding: Encoding
  private let change: Change

  private enum Encoding: String {
    case hex, base64, base64url, text

    func decode(_ text: String) -> [UInt8]? {
      let bytes = Array(text.utf8)
      return switch self {
      case .hex: Hex.decode(bytes.span)
      case .base64, .base64url: Base64.decode(bytes.span)
      case .text: bytes
      }
    }

    /// Text that is no UTF-8 cannot be in a case.
    func encode(_ bytes: [UInt8]) -> String? {
      switch self {
      case .hex: Hex.encode(bytes.span)
      case .base64: Base64.encode(bytes.span)
      case .base64url: Base64.encodeURL(bytes.span)
      case .text: String(validating: bytes, as: UTF8.self)
      }
    }
  }

  private enum Change: String {
    case prefix, xor01, ff, drop
    case zeroAppend = "zero-append"

    func variants(of bytes: [UInt8]) -> [[UInt8]] {
      switch self {
      case .prefix: bytes.indices.map { Array(bytes[..<$0]) }
      case .xor01: bytes.indices.map { at($0, in: bytes) { $0 ^ 1 } }
      case .ff: bytes.indices.filter { bytes[$0] != 0xFF }.map { at($0, in: bytes) { _ in 0xFF } }
      case .drop: bytes.indices.map { Array(bytes[..<$0] + bytes[($0 + 1)...]) }
      case .zeroAppend: [bytes + [0]]
      }
    }

    private func at(_ place: Int, in bytes: [UInt8], _ change: (UInt8) -> UInt8) -> [UInt8] {
      var bytes = bytes
      bytes[place] = change(bytes[place])
      return bytes
    }
  }

  /// Nil where the base is of a kind that cannot be judged here.
  init?(name: String, _ fields: Fields) throws(VectorError) {
    guard let base = fields.object["base"]?.object else { throw VectorError("base is not an object") }
    guard let kind = base["kind"]?.string, Self.kinds.contains(kind) else { return nil }
    guard let field = try fields.text("field") else { throw VectorError("no field") }
    guard let encoding = try fields.text("encoding").flatMap(Encoding.init(rawValue:)) else {
      throw VectorError("encoding must be hex, base64, base64url or text")
    }
    guard let change = try fields.text("op").flatMap(Change.init(rawValue:)) else {
      throw VectorError("op must be prefix, xor01, ff, drop or zero-append")
    }
    self.name = name
    self.base = base
    self.encoding = encoding
    self.change = change
    path = field.split(separator: ".").map(String.init)
    expectation = try fields.expectation()
  }

  /// Refused when all variants are; an accepted one is told. The base itself is good, or nothing would be shown.
  package func judge(by verifier: P256Verifier) throws(VectorError) -> VectorVerdict {
    guard case .accept? = try Self.judge(base, verifier) else { throw VectorError("base is not accepted") }
    var value: JSONValue? = .object(base)
    for name in path { value = value?.object?[name] ?? Int(name).flatMap { value?.element(at: $0) } }
    guard let bytes = value?.string.flatMap(encoding.decode) else {
      throw VectorError("field leads to nothing of this encoding")
    }
    var count = 0
    for variant in change.variants(of: bytes) {
      guard let text = encoding.encode(variant) else { continue }
      let changed = try Self.replacing(path[...], in: base, by: text)
      if case .accept? = try Self.judge(changed, verifier) {
        return .accept([.init("variant", text)])
      }
      count += 1
    }
    return .reject(check: "sweep", reason: "\(count) variants are refused")
  }

  private static func judge(
    _ object: JSONObject, _ verifier: P256Verifier
  ) throws(VectorError) -> VectorVerdict? {
    switch try VectorLine(object) {
    case .message(let message): message.judge(by: verifier)
    case .summary(let summary): summary.judge()
    case .play(let play): play.judge(by: verifier)
    case .androidKey(let attestation): attestation.judge()
    case .verifiable, .risk, .sweep, .unsupported: nil
    }
  }

  /// The same object with another text in one place; what was expected to be built no longer holds.
  private static func replacing(
    _ path: ArraySlice<String>, in object: JSONObject, by text: String
  ) throws(VectorError) -> JSONObject {
    var writer = JSONWriter()
    write(object, path, text, to: &writer)
    guard let value = try? JSONValue(parsing: writer.bytes.span, depthLimit: VectorLine.depthLimit),
      let object = value.object
    else { throw VectorError("a variant that is not JSON") }
    return object
  }

  private static func write(
    _ object: JSONObject, _ path: ArraySlice<String>, _ text: String, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    for member in object.members where !outcomes.contains(member.name) {
      writer.name(member.name)
      if member.name == path.first {
        write(member.value, path.dropFirst(), text, to: &writer)
      } else {
        writer.value(member.value)
      }
    }
    writer.endObject()
  }

  /// `path` is what is left of it in this value.
  private static func write(
    _ value: JSONValue, _ path: ArraySlice<String>, _ text: String, to writer: inout JSONWriter
  ) {
    guard let name = path.first else { return writer.value(text) }
    if let inner = value.object { return write(inner, path, text, to: &writer) }
    guard let elements = value.array else { return writer.value(text) }
    writer.beginArray()
    for (index, element) in elements.enumerated() {
      if index == Int(name) {
        write(element, path.dropFirst(), text, to: &writer)
      } else {
        writer.value(element)
      }
    }
    writer.endArray()
  }

  private static let outcomes = ["message_hex", "output_b64", "sha256_hex"]
  /// Of bases that are judged here.
  private static let kinds: Set = [
    "android-key",
    "message",
    "play-integrity",
    "summary",
  ]
}

extension JSONValue {
  fileprivate func element(at index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }
}
