/// One event as one line, in logfmt or JSON (docs/logs.md, "Logs"). Pure.
internal import Bytes
package import Logging
package import Time

package enum LogFormat: String, CaseIterable, Sendable {
  case text
  case json
}

package struct LogLine: Sendable {
  package var time: UnixTime
  package var level: Logger.Level
  /// What happened, as a word: `session_opened`.
  package var event: String
  package var fields: Logger.Metadata

  package init(time: UnixTime, level: Logger.Level, event: String, fields: Logger.Metadata = [:]) {
    self.time = time
    self.level = level
    self.event = event
    self.fields = fields
  }

  /// After time, level and event; fields with other names follow in alphabetical order.
  private static let order = ["connection", "source", "result", "code", "step", "keyId"]
  private static let ownNames: Set = ["time", "level", "event"]

  package func bytes(_ format: LogFormat) -> [UInt8] {
    var line = LogLineWriter(format, time: time, level: level, event: event)
    for name in Self.order { if let value = fields[name] { Self.add(name, value, format, to: &line) } }
    let others = fields.keys.filter { !Self.order.contains($0) && !Self.ownNames.contains($0) }
    for name in others.sorted() { if let value = fields[name] { Self.add(name, value, format, to: &line) } }
    return line.ended()
  }

  private static func add(
    _ name: String, _ value: Logger.MetadataValue, _ format: LogFormat, to line: inout LogLineWriter
  ) {
    if case .string(let text) = value { return line.add(name, text) }
    line.add(name) { line in
      switch format {
      case .text: appendText(value, to: &line)
      case .json: appendJSON(value, to: &line)
      }
    }
  }

  private static func appendText(_ value: Logger.MetadataValue, to line: inout [UInt8]) {
    switch value {
    case .string(let text): appendField(text, to: &line)
    case .stringConvertible(let peer as PeerText):
      PrintableText.appendField(peer.bytes.span, limit: LogText.peerLimit, to: &line)
    case .stringConvertible(let duration as Duration): line += milliseconds(duration).utf8
    case .stringConvertible(let other): appendField(other.description, to: &line)
    case .array, .dictionary:
      var nested: [UInt8] = []
      appendJSON(value, to: &nested)
      PrintableText.appendField(nested.span, limit: LogText.ownLimit, to: &line)
    }
  }

  private static func appendJSON(_ value: Logger.MetadataValue, to line: inout [UInt8]) {
    switch value {
    case .string(let text): appendJSON(text, to: &line)
    case .stringConvertible(let peer as PeerText):
      PrintableText.appendJSON(peer.bytes.span, limit: LogText.peerLimit, to: &line)
    case .stringConvertible(let duration as Duration): line += milliseconds(duration).utf8
    case .stringConvertible(let number as any FixedWidthInteger): line += "\(number)".utf8
    case .stringConvertible(let truth as Bool): line += "\(truth)".utf8
    case .stringConvertible(let other): appendJSON(other.description, to: &line)
    case .array(let items):
      line.append(UInt8(ascii: "["))
      for (index, item) in items.enumerated() {
        if index > 0 { line.append(UInt8(ascii: ",")) }
        appendJSON(item, to: &line)
      }
      line.append(UInt8(ascii: "]"))
    case .dictionary(let members):
      line.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { line.append(UInt8(ascii: ",")) }
        appendJSON(member.key, to: &line)
        line.append(UInt8(ascii: ":"))
        appendJSON(member.value, to: &line)
      }
      line.append(UInt8(ascii: "}"))
    }
  }

  private static func appendField(_ text: String, to line: inout [UInt8]) {
    PrintableText.appendField(Array(text.utf8).span, limit: LogText.ownLimit, to: &line)
  }

  private static func appendJSON(_ text: String, to line: inout [UInt8]) {
    PrintableText.appendJSON(Array(text.utf8).span, limit: LogText.ownLimit, to: &line)
  }

  /// `1.204`: in milliseconds, so the field's name ends in `Ms`.
  private static func milliseconds(_ duration: Duration) -> String {
    let microseconds = duration.wholeNanoseconds / 1000
    let fraction = String(microseconds % 1000)
    return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
  }
}
