/// How text and events are spoken to an app and read from it, in each subprotocol in which the gate speaks telnet
/// (docs/sessions.md, "Dialects").
internal import Bytes
internal import JSON
internal import PortcullisProtocol
package import TelnetWire
package import WebSocketWire

extension Dialect {
  /// Whether every message of input is a line: clients that were made for these do not send line ends.
  package var endsLines: Bool { self != .portcullis }

  /// What a message of the app is about.
  ///
  /// - Parameter payload: whole; of a text message, valid UTF-8.
  package func read(_ type: MessageType, _ payload: Span<UInt8>) throws(MalformedMessage) -> AppMessage {
    if type == .binary { return .input }
    switch self {
    case .terminal: return .input
    case .gmcp: return Self.readGMCP(payload)
    case .json: return Self.readEnvelope(payload)
    case .portcullis: return try AppMessage(parsing: payload)
    }
  }

  /// The payload of the text message that tells the app of an event, behind what `bytes` holds. False if this dialect
  /// has no word for it.
  package func tell(_ event: TelnetEvent, to bytes: inout [UInt8]) -> Bool {
    switch (self, event) {
    case (.portcullis, .prompt): GateMessage.prompt(to: &bytes)
    case (.portcullis, .echo(let isOn)): GateMessage.echo(isOn, to: &bytes)
    case (.portcullis, .gmcp(let package, let data)):
      GateMessage.gmcp(package: package.span, data: data?.span, to: &bytes)
    case (.portcullis, .msdp(let data)): GateMessage.variables(.msdp, data: data.span, to: &bytes)
    case (.portcullis, .mssp(let data)): GateMessage.variables(.mssp, data: data.span, to: &bytes)
    case (.gmcp, .gmcp(let package, let data)):
      bytes += package
      if let data {
        bytes.append(UInt8(ascii: " "))
        bytes += data
      }
    case (.json, .gmcp(let package, let data)): Self.writeEnvelope(package, data, to: &bytes)
    default: return false
    }
    return true
  }

  // MARK: gmcp.mudstandards.org

  /// `Package.Name <json>`.
  private static func readGMCP(_ text: Span<UInt8>) -> AppMessage {
    var end = 0
    while end < text.count, !isSpace(text[end]) { end += 1 }
    return gmcp(text.extracting(0..<end).array, text.extracting(end..<text.count), member: MemberName.package)
  }

  private static func gmcp(_ package: [UInt8], _ data: Span<UInt8>, member: String) -> AppMessage {
    guard AppMessage.isPackage(package) else { return refused(member) }
    do throws(JSONError) {
      return .gmcp(package: package, data: try json(data))
    } catch {
      return refused(MemberName.data)
    }
  }

  /// Compact JSON; what is none is text, as games and clients of GMCP have it; nil if there is nothing. Throws where it
  /// nests too deeply.
  private static func json(_ data: Span<UInt8>) throws(JSONError) -> [UInt8]? {
    var reader = JSONReader(data, depthLimit: MalformedMessage.depthLimit)
    if reader.peek() == nil { return nil }
    do throws(JSONError) {
      let range = try reader.skipValue()
      try reader.finish()
      return reader.compact(range)
    } catch {
      if error.rule == .depthExceeded { throw error }
      var quoted: [UInt8] = []
      GateMessage.append(quoted: data.extracting(content(of: data)), to: &quoted)
      return quoted
    }
  }

  /// Without white space at its ends.
  private static func content(of text: Span<UInt8>) -> Range<Int> {
    var start = 0
    var end = text.count
    while start < end, isSpace(text[start]) { start += 1 }
    while end > start, isSpace(text[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  // MARK: json.mudstandards.org

  /// `{"proto":"gmcp","id":"Package.Name","data":"<JSON as a string>"}`, with an empty string where there is no data.
  private static func writeEnvelope(_ package: [UInt8], _ data: [UInt8]?, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "{\"proto\":\"gmcp\",\"id\":".utf8)
    GateMessage.append(quoted: package.span, to: &bytes)
    bytes.append(contentsOf: ",\"data\":".utf8)
    let text = data ?? []
    GateMessage.append(quoted: text.span, to: &bytes)
    bytes.append(UInt8(ascii: "}"))
  }

  /// What is no such object is left out: that is what clients of this subprotocol are used to.
  private static func readEnvelope(_ text: Span<UInt8>) -> AppMessage {
    do throws(JSONError) {
      guard let members = try ObjectMembers(text, Name.ofEnvelope, depthLimit: MalformedMessage.depthLimit),
        let proto = members.string(Name.proto)
      else { return refused(MemberName.proto) }
      switch String(decoding: proto, as: UTF8.self) {
      case "gmcp":
        let package = members.string(Name.id) ?? []
        // Any JSON value, or one that is written into a string.
        let data = members.string(Name.data) ?? members.json(Name.data) ?? []
        return gmcp(package, data.span, member: MemberName.id)
      case "text":
        guard let text = members.string(Name.data) else { return refused(MemberName.data) }
        return .typed(text)
      case "telnet_31":
        guard let data = members.string(Name.data), let bytes = Base64.decode(data.span), bytes.count == 4
        else {
          return refused(MemberName.data)
        }
        return .size(
          TerminalSize(
            columns: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), rows: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        )
      default: return .unknown
      }
    } catch {
      return refused(MemberName.proto)
    }
  }

  private static func refused(_ member: String) -> AppMessage {
    .refused(AppMessage.Refusal(kind: nil, member: member))
  }
}
