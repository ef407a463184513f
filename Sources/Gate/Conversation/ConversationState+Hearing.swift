/// What the game says: telnet read, text decoded, events told to the app in its dialect.
package import Admission
internal import Bytes
internal import Charsets
internal import SessionWire
internal import System
package import TelnetWire
package import Time
internal import WebSocketWire

extension ConversationState {
  // MARK: 1. From the game

  /// Goes on with what was not read yet.
  package mutating func readOn(now: MonotonicTime) throws(SessionEnd) {
    unreadUntil = .never
    let input = unread
    unread = []
    try read(input.span, now: now)
  }

  /// Reads what the game has said, where nothing of earlier waits.
  package mutating func read(_ input: Span<UInt8>, now: MonotonicTime) throws(SessionEnd) {
    var position = 0
    told = 0
    if outgoing.keepsAll, now >= keepsAllUntil { outgoing.keepsAll = false }
    reading: while true {
      // Compressed input may become a thousand times as much, and two bytes an event: no more of it in a turn than a game says
      // that says text.
      if text.count + told >= Self.pieceBytes, telnet.holdsInput || position < input.count {
        unreadUntil = now
        break reading
      }
      let event = telnet.next(input, position: &position, now: now, into: &toGame)
      switch event {
      case .needMore: break reading
      case .again:
        unreadUntil = now
        break reading
      case .waits(let until):
        unreadUntil = until
        break reading
      case .text(let piece): decoder.decode(telnet.text(piece, in: input), into: &text)
      case .charset(let name):
        endText()
        use(name)
      case .compressionStarted, .compressionEnded: break
      case .dropped(.letGo):
        endText()
        outgoing.appendHole()
      case .dropped(let drop): leftOut.append(drop.rawValue)
      case .compressionFailed:
        endText()
        throw .gameFailed(reason: "the compressed stream is damaged")
      case .gmcpAgreed, .msdpAgreed, .prompt, .echo, .gmcp, .msdp, .mssp:
        endText()
        tell(event)
        if dialect.isResumable { outgoing.note(event) }
      }
    }
    if position < input.count { unread.append(copying: input.extracting(position..<input.count)) }
    sendText()
    makeRoomDetached(now: now)
    noteFullness(now: now)
  }

  package mutating func use(_ name: [UInt8]) {
    guard let charset = Charset(named: name) else { return }
    (decoder, encoder) = charsets.coders(for: charset)
    changes &+= 1
  }

  // MARK: 2. To the app

  /// What stands before an event comes before it, the beginning of a character as well.
  mutating func endText() {
    decoder.finish(into: &text)
    sendText()
  }

  mutating func sendText() {
    if text.isEmpty { return }
    told += text.count
    var said: [UInt8] = []
    swap(&said, &text)
    outgoing.append(text: said.span)
    // Nobody reads it who has no connection, and of those there may be thousands.
    said.removeAll(keepingCapacity: said.count <= Self.usualText && outgoing.isAttached)
    swap(&said, &text)
  }

  package mutating func tell(_ event: TelnetEvent) {
    var message: [UInt8] = []
    if dialect.tell(event, to: &message) { outgoing.append(.text, message.span) }
    told += max(message.count, Self.leastEvent)
  }

  /// The stay is over, and the app is told why.
  package mutating func over(_ end: SessionEnd) {
    endText()
    if dialect == .portcullis {
      var message: [UInt8] = []
      GateMessage.ended(end.endedReason, to: &message)
      outgoing.append(.text, message.span)
    }
    unread = []
    unreadUntil = .never
    telnet.forgetHeld()
  }
}
