/// What an app says in each dialect, and the headers of its upgrade: what is read is fit for the game, and said to an
/// app in the same dialect it reads as it was.
///
/// The first byte of an input says what it is; the rest is the payload of a text message, or the value of a header.
internal import Bytes
internal import JSON
internal import PortcullisProtocol
internal import SessionWire
internal import TelnetWire
internal import WebSocketWire

enum SessionMessageHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let first = bytes.first else { return .refused }
    let payload = Array(bytes.dropFirst())
    switch first % 6 {
    case 0: return try check(.terminal, payload)
    case 1: return try check(.gmcp, payload)
    case 2: return try check(.json, payload)
    case 3: return try check(.portcullis, payload)
    case 4: return try checkResume(payload)
    default: return try checkClient(payload)
    }
  }

  // MARK: Messages

  private static func check(_ dialect: Dialect, _ payload: [UInt8]) throws(BrokenProperty) -> Verdict {
    let message: AppMessage
    do throws(MalformedMessage) {
      message = try dialect.read(.text, payload.span)
    } catch {
      try require(dialect == .portcullis, "malformed where nothing is")
      try require(!hasType(payload), "an object with a type is malformed: \(error)")
      return .refused
    }
    switch message {
    case .unknown, .refused: return .refused
    case .input: try require(dialect == .terminal, "input in a text message")
    case .typed(let text):
      try require(String(validating: text, as: UTF8.self) != nil, "typed, but not UTF-8")
    case .client(let update): try check(update)
    case .gmcp(let package, let data):
      try require((1...64).contains(package.count), "a package of \(package.count) bytes")
      if let data { try checkCompact(data) }
      try checkTold(message, dialect, .gmcp(package: package, data: data))
    case .msdp(let data):
      try checkCompact(data)
      try require(data.first == UInt8(ascii: "{"), "variables that are no object")
      try checkTold(message, dialect, .msdp(data))
    case .ack(let received):
      try require((0...1 << 53).contains(received), "\(received) received")
    case .size, .leave: break
    }
    return .accepted
  }

  /// As the game would have said it.
  private static func checkTold(
    _ message: AppMessage, _ dialect: Dialect, _ event: TelnetEvent
  ) throws(BrokenProperty) {
    var told: [UInt8] = []
    try require(dialect.tell(event, to: &told), "heard, but not said")
    try require(String(validating: told, as: UTF8.self) != nil, "said, but not in UTF-8")
    try require((try? dialect.read(.text, told.span)) == message, "another message when said")
  }

  private static func checkCompact(_ data: [UInt8]) throws(BrokenProperty) {
    try require(compact(data) == data, "the game is sent what is no JSON, or has white space")
  }

  private static func compact(_ data: [UInt8]) -> [UInt8]? {
    var reader = JSONReader(data.span, depthLimit: MalformedMessage.depthLimit)
    do throws(JSONError) {
      let range = try reader.skipValue()
      try reader.finish()
      return reader.compact(range)
    } catch {
      return nil
    }
  }

  private static func hasType(_ payload: [UInt8]) -> Bool {
    let value = try? JSONValue(parsing: payload.span, depthLimit: MalformedMessage.depthLimit)
    return value?.object?["type"]?.string != nil
  }

  private static func check(_ update: ClientUpdate) throws(BrokenProperty) {
    guard let client = update.applied(to: nil) else { return }
    try require(client.keptBytes <= ClientDescription.keptBytesLimit, "\(client.keptBytes) bytes kept")
    try require(update.applied(to: client) == client, "said twice, it says something else")
    for text in [client.name, client.version, client.terminal].compactMap(\.self) {
      try require(text.bytes.allSatisfy { (0x20...0x7E).contains($0) }, "a text that is not printable")
    }
  }

  // MARK: Headers

  private static func checkResume(_ value: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let request = try? ResumeRequest(parsing: value.span) else { return .refused }
    let state = request.wantsState ? ";state" : ""
    let written = "\(request.id.text);received=\(request.received)\(state)"
    try require(written.utf8.elementsEqual(value), "there are two ways to write it")
    return .accepted
  }

  private static func checkClient(_ value: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let header = try? ClientHeader(parsing: value.span) else { return .refused }
    try require(value.count <= ClientHeader.limit, "a header of \(value.count) bytes")
    switch header {
    case .update(let update): try check(update)
    case .refused: return .refused
    }
    return .accepted
  }
}
