/// Times and addresses as the console's pages have them, beside what the prompt reads as well.
internal import Prompt
internal import System
internal import Time

extension Wording {
  /// `2026-11-23 01:03:53 UTC`, for who has no script to read it in a zone of his own.
  static func time(_ time: UnixTime) -> String {
    let text = time.timestamp
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
  }

  /// Without the port, for a list: `203.0.113.7:51234`, `[2001:db8::7]:51234`.
  static func address(_ source: String) -> String {
    if source.first == "[", let end = source.firstIndex(of: "]") {
      return String(source[source.index(after: source.startIndex)..<end])
    }
    let parts = source.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? String(parts[0]) : source
  }
}
