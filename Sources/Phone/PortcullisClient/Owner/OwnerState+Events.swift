/// What waits for the app, and what it has handled of it.
extension OwnerState {
  var waiting: Int { events.count }
  var isAsked: Bool { consumer != nil }

  mutating func tell(_ event: GameEvent) {
    if case .state(.ended) = event {
      isEndTold = true
      endWaits()
    }
    log(event)
    let mark = machine.mark
    switch (events.last?.event, event) {
    // Nobody has looked, and only the last one still says something.
    case (.state(.connecting)?, .state), (.state(.waiting)?, .state):
      events[events.count - 1] = (event, mark)
    case (.answering?, .answering): events[events.count - 1] = (event, mark)
    case (.inputDropped(let before)?, .inputDropped(let count)):
      events[events.count - 1] = (.inputDropped(before + count), mark)
    default: events.append((event, mark))
    }
    deliver()
  }

  private func log(_ event: GameEvent) {
    switch event {
    case .state(.connecting): log.write("connecting")
    case .state(.attached(let isResumed)): log.write(isResumed ? "resumed" : "a session begins")
    case .state(.waiting(_, let why)): log.write("waiting", why)
    case .state(.ended(.failed(let failure))): log.write("ended", failure)
    case .state(.ended(let end)): log.write("ended: \(end)")
    case .answering(let isOn): log.write(isOn ? "the gate answers again" : "the gate does not answer")
    case .gap, .doubt, .inputDropped: log.write("\(event)")
    case .text, .prompt, .echo, .gmcp, .msdp, .mssp, .approvals, .codeWanted: break
    }
  }

  /// What has come without telling anything counts as handled with what came before it.
  mutating func markArrival(now: Double) {
    if !events.isEmpty {
      events[events.count - 1].mark = machine.mark
    } else if held != nil {
      held = machine.mark
    } else {
      machine.handled(machine.mark, now: now)
    }
  }

  /// The app has handled what it got last, and asks for the next one.
  mutating func ask(_ continuation: CheckedContinuation<GameEvent?, Never>, isCancelled: Bool, now: Double) {
    if let held {
      self.held = nil
      machine.handled(held, now: now)
    }
    // There is one consumer: of two the later one goes on.
    consumer?.resume(returning: nil)
    consumer = nil
    if isCancelled { return continuation.resume(returning: nil) }
    consumer = continuation
    deliver()
  }

  mutating func stopAsking() {
    consumer?.resume(returning: nil)
    consumer = nil
  }

  private mutating func deliver() {
    guard let consumer else { return }
    if !events.isEmpty {
      let (event, mark) = events.removeFirst()
      self.consumer = nil
      held = mark
      if case .state(.ended) = event { isOver = true }
      consumer.resume(returning: event)
      if events.count < Self.waitingEvents, let reader {
        self.reader = nil
        reader.resume(returning: true)
      }
    } else if isOver {
      self.consumer = nil
      consumer.resume(returning: nil)
    }
  }
}
