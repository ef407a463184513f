/// Text of a game to UTF-8, as it arrives: a character that came in part waits for its rest.
internal import Bytes

/// What comes out does not depend on how the text is cut up. A value that any thread may use, one at a time.
package struct CharsetDecoder: Sendable {
  private let coding: CharsetCoding
  /// The beginning of a character; the rest of it is due.
  private var waiting = InlineArray<4, UInt8>(repeating: 0)
  private var waitingCount = 0

  init(_ coding: CharsetCoding) {
    self.coding = coding
  }

  /// The bytes of a character that waits for its rest, three at most.
  package var held: [UInt8] { (0..<waitingCount).map { waiting[$0] } }

  /// The same in one number: the first byte lowest, how many there are in the highest eight bits.
  package var heldWord: UInt64 {
    var word = UInt64(waitingCount) << 56
    for index in 0..<waitingCount { word |= UInt64(waiting[index]) << UInt64(index * 8) }
    return word
  }

  /// Goes on behind what another one of the same charset held. What is no beginning of a character is left out.
  package mutating func restore(heldWord word: UInt64) {
    let count = Int(word >> 56)
    guard let form, (1...3).contains(count) else { return }
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
    guard case .incomplete = form.extent(in: bytes.span, at: 0) else { return }
    hold(bytes.span)
  }

  /// Appends the text of `bytes` in UTF-8, but for what waits at its end. What is no character of the charset becomes
  /// U+FFFD.
  package mutating func decode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    var start = 0
    while waitingCount > 0, start < bytes.count {
      waiting[waitingCount] = bytes[start]
      waitingCount += 1
      start += 1
      resolveWaiting(into: &output)
    }
    if start == bytes.count { return }
    let rest = bytes.extracting(start..<bytes.count)
    switch coding {
    case .utf8: copy(rest, into: &output)
    case .singleByte(let table): Self.decode(rest, by: table, into: &output)
    case .multibyte(let charset): decode(rest, by: charset, into: &output)
    }
  }

  /// Gives up what waits, because nothing more of it will come: it becomes U+FFFD.
  package mutating func finish(into output: inout [UInt8]) {
    while waitingCount > 0 {
      output.appendReplacement()
      dropWaiting(form == .utf8 ? waitingCount : 1)
      resolveWaiting(into: &output)
    }
  }

  /// How many of the first bytes are their own text in UTF-8, so that they need not be decoded; whole characters.
  package func unchangedPrefix(of bytes: Span<UInt8>) -> Int {
    guard waitingCount == 0 else { return 0 }
    guard case .utf8 = coding else { return UTF8Validator.endOfASCII(bytes, from: 0) }
    return CharacterForm.endOfUTF8(bytes, from: 0).end
  }

  // MARK: - What waits

  /// Nil where each byte is a character.
  private var form: CharacterForm? {
    switch coding {
    case .utf8: .utf8
    case .singleByte: nil
    case .multibyte(let charset): charset.form
    }
  }

  /// Up to what still waits.
  private mutating func resolveWaiting(into output: inout [UInt8]) {
    guard let form else { return }
    while waitingCount > 0 {
      let bytes = waiting
      let whole = bytes.span.extracting(0..<waitingCount)
      switch form.extent(in: whole, at: 0) {
      case .incomplete: return
      case .malformed(let count):
        output.appendReplacement()
        dropWaiting(count)
      case .complete(let count):
        let character = whole.extracting(0..<count)
        if case .multibyte(let charset) = coding, bytes[0] >= 0x80 {
          charset.decode(character, into: &output)
        } else {
          output.append(copying: character)
        }
        dropWaiting(count)
      }
    }
  }

  private mutating func dropWaiting(_ count: Int) {
    for index in count..<max(count, waitingCount) { waiting[index - count] = waiting[index] }
    waitingCount -= count
  }

  private mutating func hold(_ bytes: Span<UInt8>) {
    for index in bytes.indices { waiting[index] = bytes[index] }
    waitingCount = bytes.count
  }

  // MARK: - The three ways

  private mutating func copy(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    var start = 0
    while start < bytes.count {
      let (end, extent) = CharacterForm.endOfUTF8(bytes, from: start)
      output.append(copying: bytes.extracting(start..<end))
      guard end < bytes.count else { return }
      guard case .malformed(let count) = extent else { return hold(bytes.extracting(end..<bytes.count)) }
      output.appendReplacement()
      start = end + count
    }
  }

  /// In pieces, as room for the longest text is made beforehand.
  private static func decode(
    _ bytes: Span<UInt8>, by table: SingleByteTable, into output: inout [UInt8]
  ) {
    var start = 0
    while start < bytes.count {
      let piece = bytes.extracting(start..<min(bytes.count, start + 1024))
      if UTF8Validator.endOfASCII(piece, from: 0) == piece.count {
        output.append(copying: piece)
      } else {
        table.decode(piece, into: &output)
      }
      start += piece.count
    }
  }

  private mutating func decode(
    _ bytes: Span<UInt8>, by charset: MultibyteCharset, into output: inout [UInt8]
  ) {
    var index = 0
    while index < bytes.count {
      var start = index
      index = UTF8Validator.endOfASCII(bytes, from: index)
      output.append(copying: bytes.extracting(start..<index))
      start = index
      var count = 0
      var extent = CharacterExtent.complete(0)
      while index < bytes.count, bytes[index] >= 0x80, count < MultibyteCharset.mostAtOnce {
        extent = charset.form.extent(in: bytes, at: index)
        guard case .complete(let length) = extent else { break }
        index += length
        count += 1
      }
      charset.decode(bytes.extracting(start..<index), into: &output)
      switch extent {
      case .complete: break
      case .incomplete: return hold(bytes.extracting(index..<bytes.count))
      case .malformed(let length):
        output.appendReplacement()
        index += length
      }
    }
  }
}
