/// JSON (RFC 8259): reading, passing over and compacting agree, and what is written reads as it was meant.
internal import Bytes
internal import JSON

enum JSONHarness {
  private static let depthLimit = 8

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes.span, depthLimit: depthLimit)
    } catch {
      try require(error.offset >= 0 && error.offset <= bytes.count, "an error at \(error.offset)")
      try require(skip(bytes) == .failure(error), "passing over finds something else than \(error)")
      return .refused
    }
    try require(String(validating: bytes, as: UTF8.self) != nil, "accepted, but not UTF-8")
    guard case .success(let range) = skip(bytes) else { throw BrokenProperty("read, but not passed over") }

    let reader = JSONReader(bytes.span, depthLimit: depthLimit)
    try require(parse(reader.compact(range)) == value, "another value without its white space")
    var writer = JSONWriter()
    writer.value(value)
    try require(parse(writer.bytes) == value, "another value when written")
    return .accepted
  }

  private static func parse(_ bytes: [UInt8]) -> JSONValue? {
    try? JSONValue(parsing: bytes.span, depthLimit: depthLimit)
  }

  private static func skip(_ bytes: [UInt8]) -> Result<Range<Int>, JSONError> {
    var reader = JSONReader(bytes.span, depthLimit: depthLimit)
    do throws(JSONError) {
      let range = try reader.skipValue()
      try reader.finish()
      return .success(range)
    } catch {
      return .failure(error)
    }
  }
}
