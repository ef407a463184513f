/// A case of canonical JSON, and what the gate's reader and writer say of it.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import JSON

package struct SummaryCase: Sendable {
  package let name: String
  package let expectation: Expectation?
  private let input: [UInt8]
  private let mode: Mode
  private let schema: Schema
  private let output: [UInt8]?
  private let hash: String?

  private enum Mode: String {
    /// Any spelling is read.
    case canonicalise
    /// The canonical one alone.
    case verify
  }

  private enum Schema: String { case summary, any }

  init(name: String, _ fields: Fields) throws(VectorError) {
    guard let input = try fields.base64("input_b64") else { throw VectorError("no input_b64") }
    guard let mode = try fields.text("mode").flatMap(Mode.init(rawValue:)) else {
      throw VectorError("mode must be canonicalise or verify")
    }
    guard let schema = try fields.text("schema").flatMap(Schema.init(rawValue:)) else {
      throw VectorError("schema must be summary or any")
    }
    self.name = name
    self.input = input
    self.mode = mode
    self.schema = schema
    output = try fields.base64("output_b64")
    hash = try fields.text("sha256_hex")
    expectation = try fields.expectation()
  }

  package func judge() -> VectorVerdict {
    do throws(CanonicalJSONError) {
      let bytes = try canonicalBytes()
      let hash = SHA256.hash(bytes.span).hex
      if let output, output != bytes { return Self.otherOutput }
      if let expected = self.hash, expected != hash { return Self.otherOutput }
      return .accept([.init("bytes", "\(bytes.count)"), .init("sha256", hash)])
    } catch {
      return .reject(check: error.rawValue, reason: error.rule)
    }
  }

  private func canonicalBytes() throws(CanonicalJSONError) -> [UInt8] {
    switch (schema, mode) {
    case (.summary, .canonicalise): try Summary(parsing: input.span).bytes
    case (.summary, .verify): try Summary(canonical: input.span).bytes
    case (.any, .canonicalise): try CanonicalObject(parsing: input.span).bytes
    case (.any, .verify): try CanonicalObject(canonical: input.span).bytes
    }
  }

  private static let otherOutput = VectorVerdict.reject(
    check: "output", reason: "the canonical form is another one")
}
