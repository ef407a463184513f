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
    voice.unreadUntil = .never
    let input = voice.unread
    voice.unread = []
    try read(input.span, now: now)
  }

  /// Reads what the game has said, where nothing of earlier waits.
  package mutating func read(_ input: Span<UInt8>, now: MonotonicTime) throws(SessionEnd) {
    var position = 0
    voice.told = 0
    if ledger.outgoing.keepsAll, now >= ledger.keepsAllUntil { ledger.outgoing.keepsAll = false }
    reading: while true {
      // Compressed input may become a thousand times as much, and two bytes an event: no more of it in a turn than a game says
      // that says text.
      if voice.text.count + voice.told >= Self.pieceBytes, voice.telnet.holdsInput || position < input.count {
        voice.unreadUntil = now
        break reading
      }
      let event = voice.telnet.next(input, position: &position, now: now, into: &voice.toGame)
      switch event {
      case .needMore: break reading
      case .again:
        voice.unreadUntil = now
        break reading
      case .waits(let until):
        voice.unreadUntil = until
        break reading
      case .text(let piece): voice.decoder.decode(voice.telnet.text(piece, in: input), into: &voice.text)
      case .charset(let name):
        endText()
        use(name)
      case .compressionStarted, .compressionEnded: break
      case .dropped(.letGo):
        endText()
        ledger.outgoing.appendHole()
      case .dropped(let drop): notices.leftOut.append(drop.rawValue)
      case .compressionFailed:
        endText()
        throw .gameFailed(reason: "the compressed stream is damaged")
      case .gmcpAgreed, .msdpAgreed, .prompt, .echo, .gmcp, .msdp, .mssp:
        endText()
        tell(event)
        if dialect.isResumable { ledger.outgoing.note(event) }
      }
    }
    if position < input.count { voice.unread.append(copying: input.extracting(position..<input.count)) }
    sendText()
    makeRoomDetached(now: now)
    noteFullness(now: now)
  }

  package mutating func use(_ name: [UInt8]) {
    guard let charset = Charset(named: name) else { return }
    (voice.decoder, voice.encoder) = charsets.coders(for: charset)
    changes &+= 1
  }

  // MARK: 2. To the app

  /// What stands before an event comes before it, the beginning of a character as well.
  mutating func endText() {
    voice.decoder.finish(into: &voice.text)
    sendText()
  }

  mutating func sendText() {
    if voice.text.isEmpty { return }
    voice.told += voice.text.count
    var said: [UInt8] = []
    swap(&said, &voice.text)
    ledger.outgoing.append(text: said.span)
    // Nobody reads it who has no connection, and of those there may be thousands.
    said.removeAll(keepingCapacity: said.count <= Self.usualText && ledger.outgoing.isAttached)
    swap(&said, &voice.text)
  }

  package mutating func tell(_ event: TelnetEvent) {
    var message: [UInt8] = []
    if dialect.tell(event, to: &message) { ledger.outgoing.append(.text, message.span) }
    voice.told += max(message.count, Self.leastEvent)
  }

  /// The stay is over, and the app is told why.
  package mutating func over(_ end: SessionEnd) {
    endText()
    if dialect == .portcullis {
      var message: [UInt8] = []
      GateMessage.ended(end.endedReason, to: &message)
      ledger.outgoing.append(.text, message.span)
    }
    voice.unread = []
    voice.unreadUntil = .never
    voice.telnet.forgetHeld()
  }
}
