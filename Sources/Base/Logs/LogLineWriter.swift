/// A log line while it is written, field after field (docs/logs.md, "Logs"). Pure.
internal import Bytes
internal import Logging
internal import Time

/// Fields stand in the order in which they are added: code that adds them by hand adds first those of `LogLine.order`,
/// then the others by the alphabet.
package struct LogLineWriter: ~Copyable {
  private let format: LogFormat
  private var line: [UInt8] = []

  /// - Parameter event: what happened, as a word: `session_opened`.
  init(_ format: LogFormat, time: UnixTime, level: Logger.Level, event: String) {
    self.format = format
    line.reserveCapacity(256)
    if format == .json { line.append(UInt8(ascii: "{")) }
    add("time", time.timestamp)
    add("level", level.rawValue)
    add("event", event)
  }

  /// Text of our own, cut at `LogText.ownLimit`.
  package mutating func add(_ name: String, _ value: String) {
    add(name, value.utf8.span, limit: LogText.ownLimit)
  }

  /// Text that a peer chose, cut at `LogText.peerLimit`.
  package mutating func add(_ name: String, peer value: String) {
    add(name, value.utf8.span, limit: LogText.peerLimit)
  }

  mutating func add(_ name: String, _ value: Span<UInt8>, limit: Int) {
    begin(name)
    switch format {
    case .text: PrintableText.appendField(value, limit: limit, to: &line)
    case .json: PrintableText.appendJSON(value, limit: limit, to: &line)
    }
  }

  /// - Parameter value: appends what stands for itself: a number, or something nested.
  mutating func add(_ name: String, _ value: (inout [UInt8]) -> Void) {
    begin(name)
    value(&line)
  }

  private mutating func begin(_ name: String) {
    let isFirst = line.count < 2
    switch format {
    case .text:
      if !isFirst { line.append(UInt8(ascii: " ")) }
      line += name.utf8
      line.append(UInt8(ascii: "="))
    case .json:
      if !isFirst { line.append(UInt8(ascii: ",")) }
      PrintableText.appendJSON(name.utf8.span, limit: LogText.ownLimit, to: &line)
      line.append(UInt8(ascii: ":"))
    }
  }

  /// The line with its line feed. No byte of it but the last ends a line, whatever the values hold.
  consuming func ended() -> [UInt8] {
    if format == .json { line.append(UInt8(ascii: "}")) }
    line.append(UInt8(ascii: "\n"))
    return line
  }
}
