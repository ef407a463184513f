/// A pattern over bytes in a policy (docs/policies.md): `*` stands for any run of bytes, an empty one too, and
/// everything else for itself.
package struct Glob: Hashable, Sendable {
  /// What stands between the stars, in order; a single element is a text without stars.
  private let parts: [[UInt8]]

  package init(_ text: [UInt8]) {
    parts = text.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
  }

  package init(_ text: String) {
    self.init(Array(text.utf8))
  }

  package var text: [UInt8] { Array(parts.joined(separator: [UInt8(ascii: "*")])) }

  /// The one text that it matches; nil with a star in it.
  package var literal: [UInt8]? { parts.count == 1 ? parts[0] : nil }

  /// What all that it matches begins with.
  package var prefix: [UInt8] { parts.first ?? [] }

  /// Whether it matches the whole of `bytes`. Each part is looked for once, from where the one before it ended: the
  /// first place is as good as any later one, as a star follows.
  package func matches(_ bytes: [UInt8]) -> Bool {
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return parts.first == bytes }
    guard bytes.count >= first.count + last.count, bytes.starts(with: first),
      bytes.suffix(last.count).elementsEqual(last)
    else { return false }
    var rest = bytes[first.count..<bytes.count - last.count]
    for part in parts[1..<parts.count - 1] {
      guard let end = Self.end(of: part, in: rest) else { return false }
      rest = rest[end...]
    }
    return true
  }

  /// Where the first occurrence of `part` ends.
  private static func end(of part: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count >= part.count else { return nil }
    for start in bytes.startIndex...bytes.endIndex - part.count {
      if bytes[start..<start + part.count].elementsEqual(part) { return start + part.count }
    }
    return nil
  }
}
