/// A charset with several bytes a character, which the C library converts (iconv(3)).
///
/// The library loads a module for it, and so needs memory that is executable: all is opened here, before the sandbox is
/// raised, and nothing afterwards. Threads share the two descriptors, each for a few microseconds at a time.
internal import Synchronization

final class MultibyteCharset: Sendable {
  let form: CharacterForm
  private let decoder: Mutex<Conversion>
  private let encoder: Mutex<Conversion>
  /// In JIS X 0201 the bytes of backslash and tilde are yen and overline; in games they are what ASCII has.
  private let hasYenForBackslash: Bool
  /// Whether the invisible tags from U+E0000 on are characters to it. For others the C library leaves them out
  /// without a word.
  private let hasTags: Bool

  /// Characters of one call.
  static let mostAtOnce = 256

  /// Nil where the C library has no module for it, and for charsets that need none.
  init?(_ charset: Charset) {
    guard let form = CharacterForm(charset), form != .utf8,
      // The library's own form in the middle, and so one step each way. It knows all of them by these names.
      let decoder = Conversion.open(from: charset.name, to: "WCHAR_T"),
      let encoder = Conversion.open(from: "WCHAR_T", to: charset.name)
    else { return nil }
    self.form = form
    self.decoder = Mutex(decoder)
    self.encoder = Mutex(encoder)
    hasYenForBackslash = form == .shiftJIS
    hasTags = form == .gb18030
  }

  /// Appends the text of `bytes` in UTF-8: at most `mostAtOnce` characters, each complete by its form. What the charset
  /// does not have is U+FFFD.
  func decode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    var start = 0
    while start < bytes.count {
      start += decoder.withLock { conversion in
        let (taken, made) = conversion.decode(bytes.extracting(start..<bytes.count))
        for index in 0..<made { append(conversion.units[index], to: &output) }
        return taken
      }
      guard start < bytes.count else { return }
      // It stopped at what is no character.
      output.appendReplacement()
      guard case .complete(let count) = form.extent(in: bytes, at: start) else { return }
      start += count
    }
  }

  private func append(_ scalar: UInt32, to output: inout [UInt8]) {
    switch scalar {
    case 0xA5 where hasYenForBackslash: output.append(UInt8(ascii: "\\"))
    case 0x203E where hasYenForBackslash: output.append(UInt8(ascii: "~"))
    default: output.append(scalar: scalar)
    }
  }

  /// Appends at most `mostAtOnce` code points, none of them ASCII; a question mark for what the charset does not have.
  func encode(_ scalars: Span<UInt32>, into output: inout [UInt8]) {
    var start = 0
    while start < scalars.count {
      var end = start
      while end < scalars.count, hasTags || scalars[end] >> 7 != 0xE0000 >> 7 { end += 1 }
      start += encoder.withLock { conversion in
        let (taken, made) = conversion.encode(scalars.extracting(start..<end))
        for index in 0..<made { output.append(conversion.bytes[index]) }
        return taken
      }
      guard start < scalars.count else { return }
      output.append(UInt8(ascii: "?"))
      start += 1
    }
  }
}
