/// Refusals of one code and step among the last thousand: how many, and when the last one was.
internal import Gateway
package import JSON
internal import PortcullisProtocol
internal import System
package import Telemetry
package import Time

package struct RefusalSummary: Equatable, Sendable {
  package let code: String
  /// The rule that was broken, as the log names it.
  package let step: String
  package let count: Int
  package let lastAt: UnixTime

  package init(code: String, step: String, count: Int, lastAt: UnixTime) {
    self.code = code
    self.step = step
    self.count = count
    self.lastAt = lastAt
  }

  init(_ object: JSONObject) throws(ControlAnswerError) {
    guard let lastAt = UnixTime(timestamp: try object.text("lastAt")) else { throw .missing("lastAt") }
    self.init(
      code: try object.text("code"), step: try object.text("step"), count: try object.count("count"),
      lastAt: lastAt)
  }

  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("code", code)
    writer.member("step", step)
    writer.member("count", count)
    writer.member("lastAt", lastAt.timestamp)
    writer.endObject()
  }

  /// - Parameter entries: the latest first, and so are the summaries.
  package static func all(_ entries: [RefusalEntry]) -> [RefusalSummary] {
    struct Kind: Hashable {
      let code: String
      let step: String
    }
    var kinds: [Kind] = []
    var found: [Kind: (count: Int, lastAt: UnixTime)] = [:]
    for entry in entries {
      let kind = Kind(code: entry.code.rawValue, step: entry.step)
      if found[kind] == nil { kinds.append(kind) }
      found[kind, default: (0, entry.at)].count += 1
    }
    return kinds.compactMap { kind in
      found[kind].map { RefusalSummary(code: kind.code, step: kind.step, count: $0.count, lastAt: $0.lastAt) }
    }
  }
}
