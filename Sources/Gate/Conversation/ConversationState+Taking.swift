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
    if !mayBeFree, !atAnyRate, !allowance.take(bytes: message.count, now: now) { return .wait }
    noteQueued(upTo: toGame.count)
    var demand = Demand.nothing
    let parsed: AppMessage
    do throws(MalformedMessage) {
      parsed = try dialect.read(type, message)
    } catch {
      incoming.take(bytes: 0, size: message.count, now: now)
      return .close(step: error.step)
    }
    if mayBeFree, !atAnyRate {
      let isFree = parsed.isFree(bytes: message.count) && freeAllowance.take(now: now)
      if !isFree, !allowance.take(bytes: message.count, now: now) { return .wait }
    }
    // What it has said of itself before comes before.
    if parsed.isCounted { tellClient() }
    let before = toGame.count
    noteQueued(upTo: before)
    switch parsed {
    case .input: encode(message)
    case .typed(let text): encode(text.span)
    case .client(let new): take(new)
    case .size(let size):
      telnet.resize(size, into: &toGame)
      changes &+= 1
    case .gmcp(let package, let data):
      note(telnet.sendGMCP(package: package, data: data, into: &toGame), .unfitGMCP)
    case .msdp(let data): note(telnet.sendMSDP(data, into: &toGame), .unfitMSDP)
    case .ack(let number): acknowledge(number, now: now)
    case .leave: demand = .leave
    case .unknown: break
    case .refused(let refusal): leftOut.append(refusal.word)
    }
    if parsed.isCounted {
      incoming.take(bytes: toGame.count - before, size: message.count, now: now)
      noted = toGame.count
    }
    return demand
  }

  package mutating func encode(_ input: Span<UInt8>) {
    if encoder.keeps(input) { return telnet.type(input, endsLine: dialect.endsLines, into: &toGame) }
    var encoded: [UInt8] = []
    encoder.encode(input, into: &encoded)
    telnet.type(encoded.span, endsLine: dialect.endsLines, into: &toGame)
  }

  /// What the app says of itself with its upgrade.
  package mutating func take(_ header: ClientHeader) {
    switch header {
    case .update(let new): take(new)
    case .refused(let member): leftOut.append(AppMessage.Refusal(kind: .client, member: member).word)
    }
  }

  private mutating func take(_ new: ClientUpdate) {
    guard let client = new.applied(to: newClient ?? telnet.client) else {
      return leftOut.append(LeftOut.tooLargeClient)
    }
    newClient = client
  }

  /// Tells telnet what the app has said of itself, as often as it may; the next time it is all that was said since.
  package mutating func tellClient(now: MonotonicTime) {
    if newClient != nil, descriptions.take(now: now) { tellClient() }
  }

  /// The same at once.
  package mutating func tellClient() {
    if let client = newClient.take() { update(client) }
  }

  /// A game that has agreed to nothing is told nothing, and that is no fault of the message.
  private mutating func note(_ sending: TelnetEngine.Sending, _ refusal: AppMessage.Refusal) {
    switch sending {
    case .sent, .notAgreed: break
    case .unfit: leftOut.append(refusal.word)
    }
  }

  package mutating func update(_ client: ClientDescription) {
    clientDeadline = .never
    changes &+= 1
    telnet.update(client, into: &toGame)
  }

  package mutating func acknowledge(_ number: Int, now: MonotonicTime) {
    let before = outgoing.acknowledged
    outgoing.acknowledge(number)
    if outgoing.acknowledged > before { fullSince = nil }
    // Nothing is under way, maybe for long.
    if outgoing.acknowledged == outgoing.last, text.isEmpty { text = [] }
    noteFullness(now: now)
  }

  // MARK: 5. To the game

  /// All of `toGame` has been sent or queued; so much waits for the game now.
  package mutating func said(stillQueued: Int, now: MonotonicTime) {
    if toGame.isEmpty, queued == stillQueued { return }
    noteQueued(upTo: toGame.count)
    if !toGame.isEmpty { lastSent = now }
    incoming.accept(bytes: queued + toGame.count - stillQueued, now: now)
    queued = stillQueued
    toGame.removeAll(keepingCapacity: toGame.count <= Self.usualText && outgoing.isAttached)
    noted = 0
  }

  package mutating func noteQueued(upTo end: Int) {
    if end > noted { incoming.enqueue(bytes: end - noted) }
    noted = end
  }

  /// The `ack` that is due, if one is.
  package mutating func dueAck(now: MonotonicTime) -> [UInt8]? {
    guard case .portcullis = dialect, incoming.schedule.isDue(at: now) else { return nil }
    incoming.schedule.acknowledged()
    if toGame.isEmpty { toGame = [] }
    var message: [UInt8] = []
    GateMessage.ack(received: incoming.handled, to: &message)
    return message
  }
}
