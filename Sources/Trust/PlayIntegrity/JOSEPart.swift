/// What an envelope and a signature have in common: parts between dots, and a header (RFC 7515 §3.1, RFC 7516 §3.1).
internal import Bytes
internal import DeviceWire
internal import JSON

enum JOSEPart {
  /// Where the parts between dots lie, or nil when they are not as many.
  static func split(_ text: Span<UInt8>, into count: Int) -> [Range<Int>]? {
    var parts: [Range<Int>] = []
    parts.reserveCapacity(count)
    var start = 0
    for index in text.indices where text[index] == UInt8(ascii: ".") {
      // The last one has no dot behind it.
      guard parts.count < count - 1 else { return nil }
      parts.append(start..<index)
      start = index + 1
    }
    guard parts.count == count - 1 else { return nil }
    parts.append(start..<text.count)
    return parts
  }

  /// Each part's bytes; nil when one is not base64url without padding.
  static func decode(_ parts: [Range<Int>], of text: Span<UInt8>) -> [[UInt8]]? {
    var decoded: [[UInt8]] = []
    decoded.reserveCapacity(parts.count)
    for part in parts {
      guard let bytes = Base64.decodeURL(text.extracting(part)) else { return nil }
      decoded.append(bytes)
    }
    return decoded
  }
}

/// A header says which algorithms its sender means; here it has to mean the only ones that there are. Keys and
/// certificates that it brings along are not looked at.
struct JOSEHeader {
  private let object: JSONObject

  /// Nil unless it is a JSON object without members that change what the rest means.
  init?(_ bytes: [UInt8]) {
    guard let object = (try? JSONValue(parsing: bytes.span, depthLimit: 8))?.object else { return nil }
    // Extensions that must be understood, compression, and a payload that is not encoded (RFC 7797).
    for name in ["crit", "zip", "b64"] where object[name] != nil { return nil }
    self.object = object
  }

  func names(_ algorithm: String, as member: String) -> Bool {
    object[member]?.string?.isSameText(as: algorithm) == true
  }
}
