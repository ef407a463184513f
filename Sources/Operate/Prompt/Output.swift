/// Standard output of the commands: whole lines in large pieces, and peers' strings made fit for a terminal
/// (docs/logs.md, "Logs").
import Bytes
import Glibc
package import JSON

package struct Output: ~Copyable {
  private var waiting: [UInt8] = []

  package init() {}

  /// Whether somebody reads along: then tables have headings.
  package static var isTerminal: Bool { isatty(1) == 1 }

  package mutating func line(_ text: String) throws {
    try append(Array(text.utf8))
  }

  /// One JSON object. What JSON may hold unescaped and a terminal should not see is escaped.
  package mutating func line(json writer: JSONWriter) throws {
    try append(Self.printable(writer.bytes))
  }

  /// Must come last: what was not flushed is lost.
  package mutating func flush() throws {
    var rest = waiting[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBufferPointer { unsafe write(1, $0.baseAddress, $0.count) }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno != EINTR {
        throw ExitStatus.ioError
      }
    }
    waiting.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ bytes: [UInt8]) throws {
    waiting += bytes
    waiting.append(UInt8(ascii: "\n"))
    if waiting.count >= 1 << 16 || Self.isTerminal { try flush() }
  }

  /// DEL, C1 and bidi controls stand only within strings, where `\uXXXX` says the same.
  package static func printable(_ json: [UInt8]) -> [UInt8] {
    if json.allSatisfy({ $0 < 0x7F }) { return json }
    var escaped: [UInt8] = []
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      if scalar.value < 0x7F {
        escaped.append(UInt8(truncatingIfNeeded: scalar.value))
      } else {
        escaped += PrintableText.json(String(scalar)).utf8.dropFirst().dropLast()
      }
    }
    return escaped
  }
}

/// Names and values below each other.
package func columns(_ rows: [(String, String)]) -> [String] {
  let width = rows.map(\.0.count).max() ?? 0
  return rows.map { name, value in
    "\(name)\(String(repeating: " ", count: width - name.count))  \(value)"
  }
}
