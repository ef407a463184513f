/// What goes over a connection: the greeting first, then messages both ways, and their counts.
extension SessionMachine {
  // MARK: From the gate

  /// Anything that shows the gate is there, such as a pong.
  package mutating func heard(now: Double) {
    heardAt = now
    spokeAt = nil
    pingedAt = nil
    if !isAnswering { act(.tell(.answering(true))) }
    isAnswering = true
  }

  /// The answer to the last ping has come.
  package mutating func ponged(now: Double) {
    roundTrip = now - lastPingAt
    heard(now: now)
  }

  package mutating func receive(binary: [UInt8], now: Double) {
    heard(now: now)
    switch phase {
    case .opening: violate("text before the greeting", now: now)
    case .attached, .closing, .parting:
      count(binary.count)
      if !binary.isEmpty { act(.tell(.text(String(decoding: binary, as: UTF8.self)))) }
    case .idle, .recalling, .connecting, .waiting, .ended: break
    }
  }

  package mutating func receive(text: [UInt8], now: Double) {
    heard(now: now)
    let message = GateText(text)
    switch phase {
    case .opening:
      guard case .greeting(let greeting) = message.content else { return violate("no greeting", now: now) }
      attach(greeting, now: now)
    case .attached, .closing, .parting:
      if message.isCounted { count(text.count) }
      heed(message.content, now: now)
    case .idle, .recalling, .connecting, .waiting, .ended: break
    }
  }

  private mutating func count(_ size: Int) {
    arrivals.count(size)
    retries.succeed()
  }

  /// After the message that was received last.
  package var mark: ArrivalMark { arrivals.mark }

  /// The app has handled everything up to `mark`.
  package mutating func handled(_ mark: ArrivalMark, now: Double) {
    arrivals.handle(mark, now: now)
    // After our own Close nothing may be sent.
    if phase == .attached { acknowledge(now: now) }
  }

  private mutating func heed(_ content: GateText.Content, now: Double) {
    switch content {
    case .greeting, .unknown: break
    case .acknowledgement(let received):
      input.acknowledge(received)
      retries.succeed()
    case .gap(let messages, let next):
      guard next > arrivals.received else { return violate("a gap that goes back", now: now) }
      arrivals.skip(to: next)
      // What was said twice is marked, and nothing is missing.
      if messages != 0 { act(.tell(.gap(messages: messages))) }
    case .closing(let code): saidCode = code
    case .ended(let reason):
      // So that the gate need not keep it: at once, and whatever the app has yet to handle.
      arrivals.handle(arrivals.mark, now: now)
      if phase == .attached { sendAcknowledgement() }
      phase = .closing(until: now + SessionLimit.closingPatience, .byGate(GateWord(reason)))
    case .event(let event): act(.tell(event))
    }
  }

  private mutating func violate(_ rule: String, now: Double) {
    close(code: 1002, now: now, .failed(GameFailure(.protocolViolation, detail: rule)))
  }

  // MARK: The greeting

  private mutating func attach(_ new: SessionGreeting, now: Double) {
    if new.isResumed {
      guard greeting != nil else { return violate("resumed, but never begun", now: now) }
      let taken = input.taken
      guard resumeInput(after: new.received) else {
        return violate("more received than sent", now: now)
      }
      if input.taken > taken { retries.succeed() }
    } else {
      guard beginSession(now: now) else { return }
    }
    dropOldInput(now: now)
    greeting = new
    phase = .attached
    isRelaunched = false
    lostAt = nil
    notBefore = nil
    act(.tell(.state(.attached(isResumed: new.isResumed))))
    if new.doubt > 0 { act(.tell(.doubt(new.doubt))) }
    act(.tell(.echo(new.echo)))
    // The first message on the new connection is what makes its id the only one.
    if new.isResumed { sendAcknowledgement() } else { remember() }
    if !hasSaidClient { sendClient() }
    sendInput(now: now)
    if isFinishing { return close(code: 1000, now: now, .byApp) }
    if isAway { part(now: now) }
  }

  /// - Returns: false if the gate counts otherwise.
  private mutating func resumeInput(after received: Int) -> Bool {
    guard isRelaunched else { return input.resume(after: received) }
    guard received >= greeting?.received ?? 0 else { return false }
    input.adopt(received: received)
    return true
  }

  /// - Returns: false if the session was to be the old one or none.
  private mutating func beginSession(now: Double) -> Bool {
    if greeting != nil, isFinishing || !policy.beginsAnew {
      close(code: 1000, now: now, .gone)
      return false
    }
    let dropped = input.begin(keepsUnsent: greeting == nil)
    if dropped > 0 { act(.tell(.inputDropped(dropped))) }
    arrivals = arrivals.next
    return true
  }

  // MARK: To the gate

  /// Input for the game, as typed.
  package mutating func send(_ bytes: [UInt8], now: Double) throws(GameInputError) {
    try send(bytes, isText: false, now: now)
  }

  /// - Parameter data: a JSON value.
  package mutating func send(
    gmcp package: String, data: String?, now: Double
  ) throws(GameInputError) {
    let isName = AppText.isPackage(package)
    guard isName, data.map({ JSONText.isValue(Array($0.utf8), depthLimit: SessionLimit.sentDepth) }) ?? true
    else {
      throw .malformed
    }
    try send(AppText.gmcp(package: package, data: data), isText: true, now: now)
  }

  /// - Parameter data: a JSON object.
  package mutating func send(msdp data: String, now: Double) throws(GameInputError) {
    guard JSONText(object: Array(data.utf8), depthLimit: SessionLimit.sentDepth) != nil else {
      throw .malformed
    }
    try send(AppText.msdp(data), isText: true, now: now)
  }

  private mutating func send(_ bytes: [UInt8], isText: Bool, now: Double) throws(GameInputError) {
    guard takesInput else { throw .ended }
    guard bytes.count <= maxMessage else { throw .tooLong }
    guard input.hasRoom(isAttached: isAttached) else { throw .full }
    input.append(UnhandledInput.Message(isText: isText, bytes: bytes, at: now))
    if isAttached { sendInput(now: now) }
  }

  /// What the app says of itself has changed. While there is no connection it goes with the next upgrade.
  package mutating func update(_ client: ClientDescription) {
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
    if input.hasUnsent { spokeAt = spokeAt ?? now }
    while let message = input.next() {
      act(message.isText ? .sendText(message.bytes) : .sendBinary(message.bytes))
    }
  }
}
