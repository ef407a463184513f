/// Builds responses (RFC 9112 §4, docs/protocol.md, "Answers"): JSON bodies, refusals with their code in a field, and
/// bare interim ones.
package import PortcullisProtocol

package struct Response: Sendable {
  package let status: Status
  package let body: [UInt8]
  private var fields: [(name: String, value: String)] = []
  /// What `Connection` names beside `close`.
  private var connectionOptions: [String] = []
  private let cacheControl: String

  /// `json` is the body as it goes out.
  package init(_ status: Status, json: String) {
    self.init(status, json: Array(json.utf8))
  }

  /// - Parameter seconds: how long others may keep it; nil where it is for this request alone.
  package init(_ status: Status, json: [UInt8], keptFor seconds: Int? = nil) {
    self.status = status
    body = json
    cacheControl = seconds.map { "max-age=\($0)" } ?? "no-store"
  }

  /// Refused with `code`. 429 and 503 carry `Retry-After` (seconds), 405 carries `Allow`, and so on: whatever
  /// the status asks for is there.
  /// - Parameters:
  ///   - time: the gate's Unix time in seconds, for a peer whose own is wrong.
  ///   - step: the rule that was broken, for a developer; words of the gate's.
  ///   - field: the member of the body that broke it.
  ///   - provesByDevice: what is asked is proved by a device's key.
  package static func refusal(
    _ code: RefusalCode, retryAfter: Int = 1, allow: String = "GET", time: Int64? = nil,
    sentence: String? = nil, step: String? = nil, field: String? = nil, provesByDevice: Bool = false
  ) -> Response {
    let time = time.map { #","\#(MemberName.time)":\#($0)"# } ?? ""
    let rule = [(MemberName.step, step), (MemberName.field, field)].map(Self.word).joined()
    var response = Response(
      code.status,
      json: #"{"\#(MemberName.error)":{"\#(MemberName.code)":"\#(code.rawValue)","#
        + #""\#(MemberName.message)":"\#(sentence ?? code.sentence)"\#(rule)\#(time)}}"#)
    response.add(HeaderName.error, code.rawValue)
    switch code.status {
    case .tooManyRequests, .serviceUnavailable:
      response.add(HeaderName.retryAfter, String(retryAfter))
    case .methodNotAllowed:
      response.add("Allow", allow)
    case .unauthorized:
      // RFC 9110 §15.5.2 asks for a challenge; the schemes but that of tokens are the gate's own.
      response.add("WWW-Authenticate", code.authenticationScheme(provesByDevice: provesByDevice))
    case .upgradeRequired:
      // RFC 9110 §15.5.22 asks for the field, whatever has to be newer.
      response.add("Upgrade", "websocket")
      response.connectionOptions = ["Upgrade"]
      // RFC 6455 §4.2.2.
      if code == .upgradeRequired { response.add("Sec-WebSocket-Version", "13") }
    default: break
    }
    return response
  }

  /// A member with a word of the gate's, which has nothing that JSON escapes; nothing where there is none.
  private static func word(_ name: String, _ word: String?) -> String {
    guard let word, word.utf8.allSatisfy({ Symbol.isToken($0) }) else { return "" }
    return #","\#(name)":"\#(word)""#
  }

  package mutating func add(_ name: String, _ value: String) {
    fields.append((name, value))
  }

  /// The bytes for the wire. `toHead`: the request was HEAD, so the body stays here (RFC 9110 §9.3.2).
  package func encoded(closing: Bool, toHead: Bool = false, date: String? = nil) -> [UInt8] {
    var head = ResponseHead(status, reserving: toHead ? 0 : body.count)
    if let date { head.add("Date", date) }
    head.add("Content-Type", "application/json; charset=utf-8")
    head.add("Cache-Control", cacheControl)
    head.add("Content-Length", String(body.count))
    for field in fields { head.add(field.name, field.value) }
    let options = connectionOptions + (closing ? ["close"] : [])
    if !options.isEmpty { head.add("Connection", options.joined(separator: ", ")) }
    return toHead ? head.ended() : head.ended() + body
  }

  /// `HTTP/1.1 100 Continue` (RFC 9110 §15.2.1).
  package static let interimContinue: [UInt8] = ResponseHead(.continue).ended()
}

/// A status line and fields on their way to being bytes.
package struct ResponseHead: Sendable {
  private var bytes: [UInt8] = []

  package init(_ status: Status, reserving bodyCount: Int = 0) {
    bytes.reserveCapacity(bodyCount + 320)
    append("HTTP/1.1 ")
    append(String(status.rawValue))
    append(" ")
    append(status.reason)
    append("\r\n")
  }

  /// A name or value that could end its line would be our own bug, not a peer's doing: it traps.
  package mutating func add(_ name: String, _ value: String) {
    guard !name.isEmpty, Symbol.all(name.utf8.span, Symbol.isToken),
      Symbol.all(value.utf8.span, Symbol.isValue)
    else {
      fatalError("ResponseHead: a field that cannot go on the wire")
    }
    append(name)
    append(": ")
    append(value)
    append("\r\n")
  }

  /// The head, closed by its empty line.
  package consuming func ended() -> [UInt8] {
    append("\r\n")
    return bytes
  }

  private mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }
}

extension RefusalCode {
  /// By what a client of a 401 has to show who it is.
  fileprivate func authenticationScheme(provesByDevice: Bool) -> String {
    switch self {
    case .tokenRejected: "Bearer"
    case .deviceUnknown, .signatureRejected, .attestationStale: "DeviceKey"
    default: provesByDevice ? "DeviceKey" : "AppAttest"
    }
  }
}
