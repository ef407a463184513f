/// Values of a log line: whose they are decides how much of them is shown (docs/logs.md, "Logs").
internal import Bytes
package import Logging

package enum LogText {
  /// Bytes kept of a value that a peer chose.
  package static let peerLimit = 128
  /// Bytes kept of a value of our own, so that no line is without end.
  package static let ownLimit = 1024

  /// As it stands in logfmt, and in the listings of `keys` and `sessions`: quoted when it has a space, `=`,
  /// `"` or
  /// `\`, with controls, bidi controls and invalid UTF-8 escaped, and cut at `limit` bytes between
  /// characters.
  package static func escape(_ bytes: Span<UInt8>, limit: Int = peerLimit) -> String {
    PrintableText.field(bytes, limit: limit)
  }

  package static func escape(_ text: String, limit: Int = peerLimit) -> String {
    PrintableText.field(text, limit: limit)
  }

  /// A field's value that a peer chose: header, certificate subject, bytes that may be no UTF-8.
  package static func peer(_ bytes: Span<UInt8>) -> Logger.MetadataValue {
    var copy: [UInt8] = []
    // Nothing beyond the limit is shown; the bytes after it only tell where a character ends and that there
    // was more.
    for index in 0..<min(bytes.count, peerLimit + 4) { copy.append(bytes[index]) }
    return .stringConvertible(PeerText(bytes: copy))
  }

  package static func peer(_ text: String) -> Logger.MetadataValue {
    .stringConvertible(PeerText(bytes: Array(text.utf8.prefix(peerLimit + 4))))
  }
}

/// What a peer chose, on its way to the formatter, which alone escapes.
struct PeerText: CustomStringConvertible, Sendable {
  let bytes: [UInt8]

  /// For other handlers than ours.
  var description: String { LogText.escape(bytes.span) }
}
