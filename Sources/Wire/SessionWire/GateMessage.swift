/// The text messages that the gate sends under `portcullis.v1` (docs/sessions.md, "From the gate"), written into bytes.
internal import Bytes
internal import JSON
package import PortcullisProtocol

/// Each function appends the payload of one message. `data` is JSON already.
package enum GateMessage {
  /// What a connection is told first.
  package struct Session: Equatable, Sendable {
    /// 22 characters of base64url.
    package var id: String
    /// 64 digits: the nonce that may be signed to resume it by that id.
    package var next: String
    package var resumed: Bool
    /// Why it was not resumed, where the upgrade asked for it.
    package var reason: ResumeRefusal?
    /// How many messages of the app were taken.
    package var received: Int
    /// In seconds.
    package var resumeFor: Int
    package var maxMessage: Int
    package var kept: Bool
    /// How many messages may have reached the game or not; 0 says nothing.
    package var doubt: Int
    package var echo: Bool
    package var gmcp: Bool
    package var msdp: Bool

    package init(
      id: String, next: String, resumed: Bool, reason: ResumeRefusal? = nil, received: Int, resumeFor: Int,
      maxMessage: Int,
      kept: Bool, doubt: Int = 0, echo: Bool, gmcp: Bool, msdp: Bool
    ) {
      self.id = id
      self.next = next
      self.resumed = resumed
      self.reason = reason
      self.received = received
      self.resumeFor = resumeFor
      self.maxMessage = maxMessage
      self.kept = kept
      self.doubt = doubt
      self.echo = echo
      self.gmcp = gmcp
      self.msdp = msdp
    }
  }

  package static func session(_ session: Session, to bytes: inout [UInt8]) {
    begin(.session, &bytes)
    member(MemberName.id, session.id, &bytes)
    member(MemberName.next, session.next, &bytes)
    member(MemberName.resumed, session.resumed, &bytes)
    if let reason = session.reason { member(MemberName.reason, reason.rawValue, &bytes) }
    member(MemberName.received, session.received, &bytes)
    member(MemberName.resumeFor, session.resumeFor, &bytes)
    member(MemberName.maxMessage, session.maxMessage, &bytes)
    member(MemberName.kept, session.kept, &bytes)
    if session.doubt > 0 { member(MemberName.doubt, session.doubt, &bytes) }
    member(MemberName.echo, session.echo, &bytes)
    member(MemberName.gmcp, session.gmcp, &bytes)
    member(MemberName.msdp, session.msdp, &bytes)
    end(&bytes)
  }

  package static func prompt(to bytes: inout [UInt8]) {
    begin(.prompt, &bytes)
    end(&bytes)
  }

  package static func echo(_ isOn: Bool, again: Bool = false, to bytes: inout [UInt8]) {
    begin(.echo, &bytes)
    member(MemberName.on, isOn, &bytes)
    finish(again, &bytes)
  }

  /// - Parameter data: nil where the game sent none.
  package static func gmcp(
    package name: Span<UInt8>, data: Span<UInt8>?, again: Bool = false, to bytes: inout [UInt8]
  ) {
    begin(.gmcp, &bytes)
    GateMessage.name(MemberName.package, &bytes)
    append(quoted: name, to: &bytes)
    if let data { member(MemberName.data, json: data, &bytes) }
    finish(again, &bytes)
  }

  /// `msdp` or `mssp`.
  package static func variables(
    _ kind: MessageKind, data: Span<UInt8>, again: Bool = false, to bytes: inout [UInt8]
  ) {
    begin(kind, &bytes)
    member(MemberName.data, json: data, &bytes)
    finish(again, &bytes)
  }

  package static func ack(received: Int, to bytes: inout [UInt8]) {
    begin(.ack, &bytes)
    member(MemberName.received, received, &bytes)
    end(&bytes)
  }

  package static func gap(_ gap: OutgoingLedger.Gap, to bytes: inout [UInt8]) {
    begin(.gap, &bytes)
    if let messages = gap.messages {
      member(MemberName.messages, messages, &bytes)
    } else {
      name(MemberName.messages, &bytes)
      bytes.append(contentsOf: "null".utf8)
    }
    member(MemberName.next, gap.next, &bytes)
    end(&bytes)
  }

  package static func closing(_ reason: ClosingReason, to bytes: inout [UInt8]) {
    begin(.closing, &bytes)
    member(MemberName.code, Int(reason.closeCode), &bytes)
    member(MemberName.reason, reason.rawValue, &bytes)
    end(&bytes)
  }

  package static func ended(_ reason: EndedReason, to bytes: inout [UInt8]) {
    begin(.ended, &bytes)
    member(MemberName.reason, reason.rawValue, &bytes)
    end(&bytes)
  }

  /// How many requests wait for the vote of the device that plays.
  package static func approvals(open: Int, to bytes: inout [UInt8]) {
    begin(.approvals, &bytes)
    member(MemberName.open, open, &bytes)
    end(&bytes)
  }

  /// A login waits for a one-time code of the device that plays.
  package static func codeWanted(to bytes: inout [UInt8]) {
    begin(.otp, &bytes)
    end(&bytes)
  }

  // MARK: Pieces

  /// In quotes; what is no UTF-8 becomes U+FFFD.
  static func append(quoted text: Span<UInt8>, to bytes: inout [UInt8]) {
    if isPlain(text) {
      bytes.append(UInt8(ascii: "\""))
      bytes.append(copying: text)
      bytes.append(UInt8(ascii: "\""))
    } else {
      JSONWriter.append(quoted: String(decoding: text.array, as: UTF8.self), to: &bytes)
    }
  }

  /// Whether it stands in a JSON string as it is.
  private static func isPlain(_ text: Span<UInt8>) -> Bool {
    for index in text.indices {
      switch text[index] {
      case 0x20, 0x21, 0x23...0x5B, 0x5D...0x7E: continue
      default: return false
      }
    }
    return true
  }

  private static func begin(_ kind: MessageKind, _ bytes: inout [UInt8]) {
    bytes.append(contentsOf: "{\"type\":\"".utf8)
    bytes.append(contentsOf: kind.rawValue.utf8)
    bytes.append(UInt8(ascii: "\""))
  }

  private static func end(_ bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "}"))
  }

  private static func finish(_ isAgain: Bool, _ bytes: inout [UInt8]) {
    if isAgain { member(MemberName.again, true, &bytes) }
    end(&bytes)
  }

  private static func name(_ name: String, _ bytes: inout [UInt8]) {
    bytes.append(contentsOf: ",\"".utf8)
    bytes.append(contentsOf: name.utf8)
    bytes.append(contentsOf: "\":".utf8)
  }

  /// Of words that need no escapes.
  private static func member(_ name: String, _ word: String, _ bytes: inout [UInt8]) {
    GateMessage.name(name, &bytes)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: word.utf8)
    bytes.append(UInt8(ascii: "\""))
  }

  private static func member(_ name: String, _ number: Int, _ bytes: inout [UInt8]) {
    GateMessage.name(name, &bytes)
    bytes.append(contentsOf: String(number).utf8)
  }

  private static func member(_ name: String, _ claim: Bool, _ bytes: inout [UInt8]) {
    GateMessage.name(name, &bytes)
    bytes.append(contentsOf: (claim ? "true" : "false").utf8)
  }

  private static func member(_ name: String, json: Span<UInt8>, _ bytes: inout [UInt8]) {
    GateMessage.name(name, &bytes)
    bytes.append(copying: json)
  }
}
