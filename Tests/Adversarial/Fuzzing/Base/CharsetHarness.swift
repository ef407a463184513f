/// Text of a game in any charset (docs/settings.md, "The game's charset"): cut up in any way it decodes to the same UTF-8, and
/// what was decoded goes back as it came.
internal import Bytes
@testable internal import Charsets

/// The first byte chooses the charset, the second where the text is cut.
enum CharsetHarness {
  /// Opened once, as by a gate.
  private static let library = CharsetLibrary()

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard bytes.count >= 2 else { return .refused }
    let charset = Charset.allCases[Int(bytes[0]) % Charset.allCases.count]
    guard let encoder = library.encoder(for: charset) else { throw BrokenProperty("\(charset) is not open") }
    let text = Array(bytes[2...])
    let whole = try decode([text], charset)
    try require(String(validating: whole, as: UTF8.self) != nil, "decoded text is no UTF-8")
    let size = Int(bytes[1]) % 40 + 1
    try require(decode(text.map { [$0] }, charset) == whole, "decoded otherwise byte by byte")
    try require(decode(pieces(text, of: size), charset) == whole, "decoded otherwise in pieces of \(size)")

    var again: [UInt8] = []
    encoder.encode(whole.span, into: &again)
    try require(again.count <= whole.count * 2, "encoding makes it longer than it may")
    let replaced = String(decoding: whole, as: UTF8.self).unicodeScalars.map { scalar in
      scalar == "\u{FFFD}" && !charset.isUTF8 && charset != .gb18030 ? "?" : scalar
    }
    let second = try String(decoding: decode([again], charset), as: UTF8.self)
    try require(Array(second.unicodeScalars) == replaced, "encoded text decodes to another one")

    // Anything can be encoded, and something comes of each character.
    var encoded: [UInt8] = []
    encoder.encode(text.span, into: &encoded)
    try require(
      encoded.isEmpty == text.isEmpty && encoded.count <= text.count * 2, "\(encoded.count) bytes encoded")
    let hasReplacement = String(decoding: whole, as: UTF8.self).unicodeScalars.contains("\u{FFFD}")
    return hasReplacement ? .refused : .accepted
  }

  private static func pieces(_ text: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: text.count, by: size).map { Array(text[$0..<min(text.count, $0 + size)]) }
  }

  /// What needs no decoding comes out as it is, at most three bytes wait, and nothing does in the end.
  private static func decode(_ pieces: [[UInt8]], _ charset: Charset) throws(BrokenProperty) -> [UInt8] {
    guard var decoder = library.decoder(for: charset) else { throw BrokenProperty("\(charset) is not open") }
    var output: [UInt8] = []
    for piece in pieces {
      let before = output.count
      let unchanged = decoder.unchangedPrefix(of: piece.span)
      decoder.decode(piece.span, into: &output)
      try require(
        output.count - before >= unchanged
          && output[before...].prefix(unchanged).elementsEqual(piece[..<unchanged]),
        "what needs no decoding is changed")
      try require(decoder.held.count <= 3, "more than three bytes wait")
    }
    decoder.finish(into: &output)
    try require(decoder.held.isEmpty, "something waits in the end")
    return output
  }
}
