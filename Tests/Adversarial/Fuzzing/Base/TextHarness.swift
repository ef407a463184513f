/// Base64, hexadecimal, UTF-8 and text for logs: one way to write each value, and nothing that a line could
/// end with.
internal import Bytes
internal import WebSocketWire

enum TextHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    try checkWriting(bytes)
    try checkPrintable(bytes)
    try checkUTF8(bytes)
    if let decoded = Hex.decode(bytes.span) {
      try require(Hex.encode(decoded.span).utf8.elementsEqual(bytes), "hexadecimal in two forms")
    }
    guard let decoded = Base64.decode(bytes.span) else { return .refused }
    // RFC 4648 §5 in the letters of §4, with its padding: then there is one way to write the value.
    var canonical = bytes.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while !canonical.count.isMultiple(of: 4) { canonical.append(UInt8(ascii: "=")) }
    try require(Base64.encode(decoded.span).utf8.elementsEqual(canonical), "base64 in two forms")
    return .accepted
  }

  private static func checkWriting(_ bytes: [UInt8]) throws(BrokenProperty) {
    let base64 = Array(Base64.encode(bytes.span).utf8)
    try require(Base64.decode(base64.span) == bytes, "base64 does not come back")
    let hex = Array(Hex.encode(bytes.span).utf8)
    try require(Hex.decode(hex.span) == bytes, "hexadecimal does not come back")
  }

  /// docs/logs.md, "Logs": whatever a peer sends, a field stays one field of one line.
  private static func checkPrintable(_ bytes: [UInt8]) throws(BrokenProperty) {
    for limit in [Int.max, 7] {
      let field = PrintableText.field(bytes.span, limit: limit)
      try require(
        field.unicodeScalars.allSatisfy { scalar in
          switch scalar.value {
          case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: false
          default: true
          }
        }, "a control character in a field")
      let isQuoted = field.utf8.first == UInt8(ascii: "\"")
      try require(
        isQuoted || !field.utf8.contains { $0 == 0x20 || $0 == UInt8(ascii: "=") || $0 == 0x22 },
        "a bare value that ends early")
      try require(!isQuoted || field.utf8.last == 0x22, "a quote that is not closed")
    }
  }

  /// The validator says what the standard library says, however the bytes come; mended text is UTF-8.
  private static func checkUTF8(_ bytes: [UInt8]) throws(BrokenProperty) {
    var whole = UTF8Validator()
    let isValid = whole.accept(bytes.span) && whole.isComplete
    try require(isValid == (String(validating: bytes, as: UTF8.self) != nil), "UTF-8 or not")
    var single = UTF8Validator()
    try require((bytes.allSatisfy { single.accept($0) } && single.isComplete) == isValid, "byte by byte")

    var repair = TextRepair()
    var mended: [UInt8] = []
    for byte in bytes {
      let one = [byte]
      repair.repair(one.span, into: &mended)
      try require(repair.heldCount <= 3, "more than three bytes held back")
    }
    repair.finish(into: &mended)
    try require(mended.elementsEqual(String(decoding: bytes, as: UTF8.self).utf8), "mended in another way")
    var atOnce: [UInt8] = []
    var second = TextRepair()
    second.repair(bytes.span, into: &atOnce)
    second.finish(into: &atOnce)
    try require(atOnce == mended, "mended otherwise when whole")
    try require(mended.count <= TextRepair.outputLimit(for: bytes.count), "longer than the limit says")
  }
}
