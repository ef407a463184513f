/// What goes over a connection: the greeting first, then messages both ways, and their counts.
extension SessionMachine {
  // MARK: From the gate

  /// Anything that shows the gate is there, such as a pong.
  package mutating func heard(now: Double) {
    heardAt = now
    pingedAt = nil
  }

  package mutating func receive(binary: [UInt8], now: Double) {
    heard(now: now)
    switch phase {
    case .opening: violate("text before the greeting", now: now)
    case .attached, .closing:
      count(binary.count, now: now)
      if !binary.isEmpty { act(.tell(.text(binary))) }
      answer(now: now)
    case .idle, .connecting, .waiting, .ended: break
    }
  }

  package mutating func receive(text: [UInt8], now: Double) {
    heard(now: now)
    let message = GateText(text)
    switch phase {
    case .opening:
      guard case .greeting(let greeting) = message.content else { return violate("no greeting", now: now) }
      attach(greeting, now: now)
    case .attached, .closing:
      if message.isCounted { count(text.count, now: now) }
      heed(message.content, now: now)
      answer(now: now)
    case .idle, .connecting, .waiting, .ended: break
    }
  }

  private mutating func count(_ size: Int, now: Double) {
    arrivals.count(size, now: now)
    retries.succeed()
  }

  private mutating func heed(_ content: GateText.Content, now: Double) {
    switch content {
    case .greeting, .unknown: break
    case .acknowledgement(let received):
      input.acknowledge(received)
      retries.succeed()
    case .gap(let messages, let next):
      guard next > arrivals.received else { return violate("a gap that goes back", now: now) }
      arrivals.skip(to: next, now: now)
      act(.tell(.gap(messages: messages)))
    case .closing(let code): saidCode = code
    case .ended(let reason):
      // So that the gate need not keep it: at once.
      if phase == .attached { sendAcknowledgement() }
      phase = .closing(until: now + SessionLimit.closingPatience, .byGate(reason: reason))
    case .event(let event): act(.tell(event))
    }
  }

  /// Behind our own Close nothing may be sent.
  private mutating func answer(now: Double) {
    if phase == .attached { acknowledge(now: now) }
  }

  private mutating func violate(_ rule: String, now: Double) {
    close(code: 1002, now: now, .violation(rule))
  }

  // MARK: The greeting

  private mutating func attach(_ new: SessionGreeting, now: Double) {
    if new.isResumed {
      guard greeting != nil else { return violate("resumed, but never begun", now: now) }
      let taken = input.taken
      guard input.resume(after: new.received) else {
        return violate("more received than sent", now: now)
      }
      if input.taken > taken { retries.succeed() }
    } else {
      guard beginSession(now: now) else { return }
    }
    dropOldInput(now: now)
    greeting = new
    phase = .attached
    lostAt = nil
    act(.tell(.state(.attached(isResumed: new.isResumed))))
    if new.doubt > 0 { act(.tell(.doubt(new.doubt))) }
    act(.tell(.echo(new.echo)))
    // The first message on the new connection is what makes its id the only one.
    if new.isResumed { sendAcknowledgement() }
    if !hasSaidClient { sendClient() }
    sendInput(now: now)
    if isFinishing { close(code: 1000, now: now, .byApp) }
  }

  /// - Returns: false if the session was to be the old one or none.
  private mutating func beginSession(now: Double) -> Bool {
    if greeting != nil, isFinishing || !policy.beginsAnew {
      close(code: 1000, now: now, .gone)
      return false
    }
    let dropped = input.begin(keepsUnsent: greeting == nil)
    if dropped > 0 { act(.tell(.inputDropped(dropped))) }
    arrivals = Arrivals()
    return true
  }

  // MARK: To the gate

  /// Input for the game, as typed.
  package mutating func send(_ bytes: [UInt8], now: Double) throws(SessionInputError) {
    try send(bytes, isText: false, now: now)
  }

  /// - Parameter data: a JSON value.
  package mutating func send(
    gmcp package: String, data: [UInt8]?, now: Double
  ) throws(SessionInputError) {
    try send(AppText.gmcp(package: package, data: data), isText: true, now: now)
  }

  /// - Parameter data: a JSON object.
  package mutating func send(msdp data: [UInt8], now: Double) throws(SessionInputError) {
    try send(AppText.msdp(data), isText: true, now: now)
  }

  private mutating func send(_ bytes: [UInt8], isText: Bool, now: Double) throws(SessionInputError) {
    guard takesInput else { throw .ended }
    guard bytes.count <= maxMessage else { throw .tooLong }
    guard input.hasRoom(isAttached: isAttached) else { throw .full }
    input.append(UnhandledInput.Message(isText: isText, bytes: bytes, at: now))
    if isAttached { sendInput(now: now) }
  }

  /// What the app says of itself has changed. While there is no connection it goes with the next upgrade.
  package mutating func update(_ client: ClientFacts) {
    guard client != self.client else { return }
    self.client = client
    hasSaidClient = false
    if isAttached { sendClient() }
  }

  private mutating func sendClient() {
    hasSaidClient = true
    act(.sendText(client.message))
  }

  mutating func sendInput(now: Double) {
    // Silence counts from here where an acknowledgement is owed from here on.
    if !input.isAcknowledgementOwed, input.hasUnsent { heardAt = max(heardAt, now) }
    while let message = input.next() {
      act(message.isText ? .sendText(message.bytes) : .sendBinary(message.bytes))
    }
  }
}
