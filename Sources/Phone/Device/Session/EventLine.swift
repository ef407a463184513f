/// What a session of the app's package tells, as lines of JSON for other programs.
internal import JSON
internal import PortcullisClient

enum EventLine {
  /// With its line feed.
  static func bytes(of event: GameEvent) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("event")
    write(event, to: &writer)
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  private static func write(_ event: GameEvent, to writer: inout JSONWriter) {
    switch event {
    case .text(let text): write("text", "text", text, to: &writer)
    case .prompt: writer.value("prompt")
    case .echo(let isOn):
      writer.value("echo")
      writer.name("on")
      writer.value(isOn)
    case .gmcp(let package, let data, let isAgain):
      write("gmcp", "package", package, to: &writer)
      write(data, isAgain, to: &writer)
    case .msdp(let data, let isAgain):
      writer.value("msdp")
      write(data, isAgain, to: &writer)
    case .mssp(let data, let isAgain):
      writer.value("mssp")
      write(data, isAgain, to: &writer)
    case .approvals(let open): write("approvals", open, to: &writer)
    case .codeWanted: writer.value("codeWanted")
    case .gap(let messages): write("gap", messages, to: &writer)
    case .inputDropped(let count): write("inputDropped", count, to: &writer)
    case .answering(let isOn):
      writer.value("answering")
      writer.name("on")
      writer.value(isOn)
    case .doubt(let count): write("doubt", count, to: &writer)
    case .state(let state): write(state, to: &writer)
    }
  }

  private static func write(_ state: GameState, to writer: inout JSONWriter) {
    switch state {
    case .connecting: writer.value("connecting")
    case .attached(let isResumed):
      writer.value("attached")
      writer.name("resumed")
      writer.value(isResumed)
    case .waiting(_, let why): write("waiting", "why", "\(why.kind)", to: &writer)
    case .ended(let end): write("ended", "end", "\(end)", to: &writer)
    }
  }

  private static func write(_ kind: String, _ name: String, _ value: String, to writer: inout JSONWriter) {
    writer.value(kind)
    writer.name(name)
    writer.value(value)
  }

  private static func write(_ kind: String, _ count: Int?, to writer: inout JSONWriter) {
    writer.value(kind)
    writer.name("count")
    if let count { writer.value(count) } else { writer.null() }
  }

  /// - Parameter data: the text of a JSON value, which stays one.
  private static func write(_ data: String?, _ isAgain: Bool, to writer: inout JSONWriter) {
    if let data {
      writer.name("data")
      writer.value(data)
    }
    writer.name("again")
    writer.value(isAgain)
  }
}
