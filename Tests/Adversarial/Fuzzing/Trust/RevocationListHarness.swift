/// Revocation lists (docs/android.md, "The revocation list"): what is read has what our other reader of JSON finds.
@testable internal import AndroidKey
internal import Bytes
internal import JSON

enum RevocationListHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let list = try? RevocationList(json: bytes.span) else { return .refused }
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes.span, depthLimit: 16)
    } catch {
      // Names that come twice change nothing here: what is listed twice is listed.
      try require(error.rule == .duplicateName, "read, but \(error)")
      return .accepted
    }
    guard let entries = value.object?["entries"]?.object else { throw BrokenProperty("without entries") }
    var numbers: Set<String> = []
    for entry in entries.members {
      try require(entry.value.object?["status"]?.string != nil, "\(entry.name) has no status")
      let digits = entry.name.lowercased().drop { $0 == "0" }
      try require(
        !entry.name.isEmpty && digits.allSatisfy { $0.isASCII && $0.isHexDigit }, "\(entry.name) is read")
      guard let serial = CertificateSerial(hex: entry.name) else { throw BrokenProperty("\(entry.name)") }
      try require(list.contains(serial), "\(entry.name) is not listed")
      try require(serial.hex == (digits.isEmpty ? "0" : String(digits)), "\(entry.name) is another number")
      numbers.insert(serial.hex)
    }
    try require(list.count == numbers.count, "\(list.count) entries of \(numbers.count)")
    return .accepted
  }
}
