/// `/refusals`: the last thousand, with what to do. Filtered by the query's `code`, `step` and `text` (a key, a pseudonym, a
/// device or an address), and gone on with by `after`.
import PortcullisProtocol
import Time

struct RefusalsPage: Sendable {
  struct Filter: Equatable, Sendable {
    var code: RefusalCode?
    /// Of the log's words; empty for all.
    var step: String
    /// Of whom; empty for all.
    var text = ""
  }

  var filter: Filter
  /// All that are kept, by code and step, the most frequent first.
  var groups: [RefusalGroup]
  /// The latest first.
  var rows: [RefusalRow]
  var end: ListEnd
}

struct RefusalGroup: Equatable, Sendable {
  var code: RefusalCode
  /// The rule that was broken, as the log names it.
  var step: String?
  var count: Int
  var lastAt: UnixTime
}

struct RefusalRow: Equatable, Sendable {
  var at: UnixTime
  var code: RefusalCode
  var step: String?
  /// Where from.
  var source: String
  /// What was asked for, such as `/attest/register`.
  var path: String?
  /// Base64, whole, where the peer has said it.
  var keyID: String?
  /// Whether that key has a page.
  var isKeyKnown = false
  /// Where the peer has said it.
  var deviceID: String?
  var isDeviceKnown = false
  var deviceName: String?
  var connection: String?
}
