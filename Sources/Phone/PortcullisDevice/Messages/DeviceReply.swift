/// What a gate answers a phone: read as strictly as a phone should that has to show it to a person.
package import PortcullisProtocol

package struct DeviceReply: Equatable, Sendable {
  package let status: Int
  /// `Portcullis-Error`.
  package let code: String?
  /// In seconds.
  package let retryAfter: Double?
  package let trace: String?
  package let body: [UInt8]

  package init(
    status: Int, code: String? = nil, retryAfter: Double? = nil, trace: String? = nil, body: [UInt8] = []
  ) {
    self.status = status
    self.code = code
    self.retryAfter = retryAfter.map { min(max($0, 0), 3600) }
    self.trace = trace
    self.body = body
  }

  package var refusal: RefusalCode? { code.flatMap { RefusalCode(rawValue: $0) } }

  /// Nil for what is no JSON object, or too long to be a gate's.
  var object: JSONTree.Object? {
    guard body.count <= 65_536 else { return nil }
    return (try? JSONTree(parsing: body, depthLimit: 16))?.object
  }

  /// For an answer that is not what was wanted.
  package var failure: DeviceFailure {
    if status == 200 { return .malformed("not a JSON object") }
    guard let code else {
      let kind: DeviceFailure.Kind = status >= 500 || status == 429 ? .refused : .interference
      return DeviceFailure(
        kind, "refused with \(status)", status: status, retryAfter: retryAfter, trace: trace)
    }
    let time = object?["error"]?.object?["time"]?.integer.flatMap { UnixSeconds($0) }
    let isClock = refusal == .clockSkewed && time != nil
    return DeviceFailure(
      isClock ? .clockSkewed : .refused, "refused with \(status) \(code)", code: refusal, status: status,
      retryAfter: retryAfter, gateTime: isClock ? time : nil, trace: trace)
  }
}

extension DeviceFailure {
  /// - Parameter reason: what was wanted instead.
  static func malformed(_ reason: String) -> Self {
    Self(.protocolViolation, "not a proper HTTP response: \(reason)")
  }

  static func otherGate(_ server: ServerID) -> Self {
    Self(.untrusted, "the server is not trusted: this phone belongs to another gate than \(server)")
  }

  static let notPaired = Self(.notPaired, "this phone belongs to no gate: pair or enroll it")
}

/// A token with its end.
package struct DeviceToken: Equatable, Sendable {
  package let text: String
  /// In Unix seconds; nil where the gate has not said: it says so when the time has come.
  package let expiresAt: Int64?

  package init?(_ text: String?, expiresAt: Int64?) {
    // What stands in a field of a request (RFC 6750 §2.1).
    guard let text, (1...4096).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.text = text
    self.expiresAt = expiresAt
  }

  /// Whether it is worth to be sent.
  package func isGood(at seconds: Int64) -> Bool { expiresAt.map { seconds + 10 < $0 } ?? true }
}

/// Items that are open, and where the list goes on.
struct OpenItems<Item> {
  let items: [Item]
  let cursor: String

  /// 64 items are kept; of two with one id the first, and what is no item at all is passed over.
  init?(_ object: JSONTree.Object, _ read: (JSONTree) -> Item?, id: (Item) -> String) {
    guard let values = object["items"]?.array, let cursor = object["cursor"]?.string, Self.isCursor(cursor)
    else { return nil }
    var seen: Set<String> = []
    items = Array(values.lazy.compactMap(read).filter { seen.insert(id($0)).inserted }.prefix(64))
    self.cursor = cursor
  }

  /// Whatever a gate likes, as long as a query can hold it (RFC 3986 §2.3).
  private static func isCursor(_ text: String) -> Bool {
    text.utf8.count <= 64
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: "-._~".utf8.contains(byte)
        }
      }
  }
}
