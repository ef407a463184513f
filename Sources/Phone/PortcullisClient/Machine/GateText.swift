/// A TEXT message of the gate's in the subprotocol `portcullis.v1`, read, and whether it counts (docs/sessions.md).
internal import PortcullisProtocol

/// What the gate says first on every connection.
struct SessionGreeting: Equatable {
  var id: String
  var isResumed: Bool
  /// How many of the app's messages the gate has taken.
  var received: Int
  /// Seconds; 0: the session ends with its connection.
  var resumeFor: Int
  var maxMessage: Int
  var echo: Bool
  var doubt: Int
  /// What stands in place of a challenge when this session is resumed: 64 hexadecimal digits.
  var next: String?
}

struct GateText: Equatable {
  enum Content: Equatable {
    case greeting(SessionGreeting)
    case acknowledgement(Int)
    /// `next` is the number of the next message that counts.
    case gap(messages: Int?, next: Int)
    case closing(code: UInt16)
    case ended(reason: String)
    case event(GameEvent)
    /// A type of later times, or members that do not fit.
    case unknown
  }

  let content: Content
  let isCounted: Bool

  init(_ bytes: [UInt8]) {
    guard let object = JSONText(object: bytes), let type = object.string(MemberName.type) else {
      content = .unknown
      isCounted = true
      return
    }
    let isAgain = object.boolean(MemberName.again) ?? false
    let kind = MessageKind(rawValue: type)
    isCounted =
      switch kind {
      case .session, .ack, .gap, .closing, .approvals, .otp: false
      case .prompt, .echo, .gmcp, .msdp, .mssp, .ended, .client, .leave, nil: !isAgain
      }
    content = kind.flatMap { Self.content($0, object, isAgain: isAgain) } ?? .unknown
  }

  private static func content(_ kind: MessageKind, _ object: JSONText, isAgain: Bool) -> Content? {
    let data = object.raw(MemberName.data).map { String(decoding: $0, as: UTF8.self) }
    switch kind {
    case .session: return SessionGreeting(object).map(Content.greeting)
    case .ack: return object.count(MemberName.received).map(Content.acknowledgement)
    case .gap:
      let messages = object.count(MemberName.messages)
      return object.count(MemberName.next).map { .gap(messages: messages, next: $0) }
    case .closing:
      return object.integer(MemberName.code).flatMap(UInt16.init(exactly:)).map(Content.closing)
    case .ended: return .ended(reason: object.string(MemberName.reason) ?? "")
    case .approvals: return object.count(MemberName.open).map { .event(.approvals(open: $0)) }
    case .otp: return .event(.codeWanted)
    case .prompt: return .event(.prompt)
    case .echo: return object.boolean(MemberName.on).map { .event(.echo($0)) }
    case .gmcp:
      return object.string(MemberName.package).map { name in
        .event(.gmcp(package: name, data: data, isAgain: isAgain))
      }
    case .msdp: return data.map { .event(.msdp($0, isAgain: isAgain)) }
    case .mssp: return data.map { .event(.mssp($0, isAgain: isAgain)) }
    // The app's own.
    case .client, .leave: return nil
    }
  }
}

extension SessionGreeting {
  /// Of an earlier start of the app. How long the gate keeps it is not known: at most a day.
  init?(_ remembered: RememberedSession) {
    guard Self.isIdentifier(remembered.id), remembered.received >= 0, remembered.handled >= 0 else {
      return nil
    }
    self.init(
      id: remembered.id, isResumed: true, received: remembered.handled, resumeFor: 86_400,
      maxMessage: SessionLimit.messageBytes, echo: false, doubt: 0,
      next: remembered.next.flatMap { Self.isNonce($0) ? $0 : nil })
  }

  fileprivate init?(_ object: JSONText) {
    guard let id = object.string(MemberName.id), Self.isIdentifier(id),
      let isResumed = object.boolean(MemberName.resumed),
      let received = object.count(MemberName.received)
    else { return nil }
    self.id = id
    self.isResumed = isResumed
    self.received = received
    resumeFor = object.count(MemberName.resumeFor) ?? 0
    maxMessage = object.count(MemberName.maxMessage) ?? SessionLimit.messageBytes
    echo = object.boolean(MemberName.echo) ?? false
    doubt = object.count(MemberName.doubt) ?? 0
    next = object.string(MemberName.next).flatMap { Self.isNonce($0) ? $0 : nil }
  }

  private static func isNonce(_ text: String) -> Bool { TextEncoding.bytes(ofHex: text)?.count == 32 }

  /// 22 characters of base64url: nothing else may go into a header.
  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count == 22
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
      }
  }
}

extension JSONText {
  /// Numbers of messages, bytes and seconds: neither below 0 nor beyond 2⁵³.
  fileprivate func count(_ name: String) -> Int? {
    integer(name).flatMap { (0...(1 << 53)).contains($0) ? $0 : nil }
  }
}
