/// What the app says: read in its dialect, put into telnet's words for the game, counted and acknowledged.
internal import Bytes
internal import Charsets
internal import PortcullisProtocol
package import SessionWire
internal import System
package import TelnetWire
package import Time
package import WebSocketWire

extension ConversationState {
  // MARK: 4. From the app

  /// What a message of the app's asks of its connection.
  package enum Demand {
    case nothing
    /// To be without a connection.
    case leave
    case close(step: String)
    /// The message came too fast: it was not taken, and is to be offered again.
    case wait
  }

  package mutating func take(
    _ message: Span<UInt8>, type: MessageType, now: MonotonicTime, atAnyRate: Bool = false
  )
    -> Demand
  {
    // What may be free shows only once it is read, and is small.
    let mayBeFree = dialect.mayBeFree(type, bytes: message.count)
    if !mayBeFree, !atAnyRate, !ledger.allowance.take(bytes: message.count, now: now) { return .wait }
    noteQueued(upTo: voice.toGame.count)
    var demand = Demand.nothing
    let parsed: AppMessage
    do throws(MalformedMessage) {
      parsed = try dialect.read(type, message)
    } catch {
      ledger.incoming.take(bytes: 0, size: message.count, now: now)
      return .close(step: error.step)
    }
    if mayBeFree, !atAnyRate {
      let isFree = parsed.isFree(bytes: message.count) && ledger.freeAllowance.take(now: now)
      if !isFree, !ledger.allowance.take(bytes: message.count, now: now) { return .wait }
    }
    // What it has said of itself before comes before.
    if parsed.isCounted { tellClient() }
    let before = voice.toGame.count
    noteQueued(upTo: before)
    switch parsed {
    case .input: encode(message)
    case .typed(let text): encode(text.span)
    case .client(let new): take(new)
    case .size(let size):
      voice.telnet.resize(size, into: &voice.toGame)
      changes &+= 1
    case .gmcp(let package, let data):
      note(voice.telnet.sendGMCP(package: package, data: data, into: &voice.toGame), .unfitGMCP)
    case .msdp(let data): note(voice.telnet.sendMSDP(data, into: &voice.toGame), .unfitMSDP)
    case .ack(let number): acknowledge(number, now: now)
    case .leave: demand = .leave
    case .unknown: break
    case .refused(let refusal): notices.leftOut.append(refusal.word)
    }
    if parsed.isCounted {
      ledger.incoming.take(bytes: voice.toGame.count - before, size: message.count, now: now)
      voice.noted = voice.toGame.count
    }
    return demand
  }

  package mutating func encode(_ input: Span<UInt8>) {
    if voice.encoder.keeps(input) {
      return voice.telnet.type(input, endsLine: dialect.endsLines, into: &voice.toGame)
    }
    var encoded: [UInt8] = []
    voice.encoder.encode(input, into: &encoded)
    voice.telnet.type(encoded.span, endsLine: dialect.endsLines, into: &voice.toGame)
  }

  /// What the app says of itself with its upgrade.
  package mutating func take(_ header: ClientHeader) {
    switch header {
    case .update(let new): take(new)
    case .refused(let member): notices.leftOut.append(AppMessage.Refusal(kind: .client, member: member).word)
    }
  }

  private mutating func take(_ new: ClientUpdate) {
    guard let client = new.applied(to: notices.newClient ?? voice.telnet.client) else {
      return notices.leftOut.append(LeftOut.tooLargeClient)
    }
    notices.newClient = client
  }

  /// Tells telnet what the app has said of itself, as often as it may; the next time it is all that was said since.
  package mutating func tellClient(now: MonotonicTime) {
    if notices.newClient != nil, notices.descriptions.take(now: now) { tellClient() }
  }

  /// The same at once.
  package mutating func tellClient() {
    if let client = notices.newClient.take() { update(client) }
  }

  /// A game that has agreed to nothing is told nothing, and that is no fault of the message.
  private mutating func note(_ sending: TelnetEngine.Sending, _ refusal: AppMessage.Refusal) {
    switch sending {
    case .sent, .notAgreed: break
    case .unfit: notices.leftOut.append(refusal.word)
    }
  }

  package mutating func update(_ client: ClientDescription) {
    notices.clientDeadline = .never
    changes &+= 1
    voice.telnet.update(client, into: &voice.toGame)
  }

  package mutating func acknowledge(_ number: Int, now: MonotonicTime) {
    let before = ledger.outgoing.acknowledged
    ledger.outgoing.acknowledge(number)
    if ledger.outgoing.acknowledged > before { fullness.ends() }
    // Nothing is under way, maybe for long.
    if ledger.outgoing.acknowledged == ledger.outgoing.last, voice.text.isEmpty { voice.text = [] }
    noteFullness(now: now)
  }

  // MARK: 5. To the game

  /// All of `toGame` has been sent or queued; so much waits for the game now.
  package mutating func said(stillQueued: Int, now: MonotonicTime) {
    if voice.toGame.isEmpty, voice.queued == stillQueued { return }
    noteQueued(upTo: voice.toGame.count)
    if !voice.toGame.isEmpty { voice.lastSent = now }
    ledger.incoming.accept(bytes: voice.queued + voice.toGame.count - stillQueued, now: now)
    voice.queued = stillQueued
    voice.toGame.removeAll(
      keepingCapacity: voice.toGame.count <= Self.usualText && ledger.outgoing.isAttached)
    voice.noted = 0
  }

  package mutating func noteQueued(upTo end: Int) {
    if end > voice.noted { ledger.incoming.enqueue(bytes: end - voice.noted) }
    voice.noted = end
  }

  /// The `ack` that is due, if one is.
  package mutating func dueAck(now: MonotonicTime) -> [UInt8]? {
    guard case .portcullis = dialect, ledger.incoming.schedule.isDue(at: now) else { return nil }
    ledger.incoming.schedule.acknowledged()
    if voice.toGame.isEmpty { voice.toGame = [] }
    var message: [UInt8] = []
    GateMessage.ack(received: ledger.incoming.handled, to: &message)
    return message
  }
}
