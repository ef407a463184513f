/// What a session's owner keeps behind its lock: the machine, the connection, what waits for the app and for the gate.

/// A connection, by a number that is never used again: what still comes from an older one is known by it.
struct Line {
  let number: Int
  let connection: any GateConnection
  /// Whether the gate's greeting is to come, which is read however much waits.
  var isNew = true
  /// A message could not be sent: the rest is not tried, and what the gate has said before is still read.
  var isMute = false
}

/// What is done for the machine one after the other, by one task.
enum Errand {
  case send(GateMessage, Line)
  case close(code: UInt16, Line)
  case remember(RememberedSession?)
  case tell(GameEvent)
}

/// What somebody waits for who wants the session to stop.
enum Stillness {
  /// No connection, and no attempt.
  case rest
  case end
}

struct OwnerState {
  /// Events that wait for the app; beyond so many nothing is read from the gate.
  static let waitingEvents = 64

  var machine: SessionMachine
  var hasBegun = false

  // To the app.
  private var events: [(event: GameEvent, mark: ArrivalMark)] = []
  /// Behind the event that the app has and has not handled yet.
  private var held: ArrivalMark?
  private var isOver = false
  private var consumer: CheckedContinuation<GameEvent?, Never>?

  // To the gate.
  private(set) var line: Line?
  private var lines = 0
  private var errands: [Errand] = []
  private var runner: CheckedContinuation<Errand?, Never>?
  private var reader: CheckedContinuation<Bool, Never>?

  private var stillness: [(Stillness, CheckedContinuation<Void, Never>)] = []

  init(_ machine: SessionMachine) {
    self.machine = machine
  }

  // MARK: Actions

  /// What is left to be done outside the lock.
  struct Orders {
    var connect: SessionRequest?
    var registers = false
    var pings: [Line] = []
    var abandoned: [any GateConnection] = []
    /// The connection that this call has opened.
    var opened: Line?
  }

  /// Does what the machine asks for, as far as that can be done here.
  mutating func heed() -> Orders {
    var orders = Orders()
    for action in machine.takeActions() {
      switch action {
      case .connect(let request): orders.connect = request
      case .register: orders.registers = true
      case .remember(let session): run(.remember(session))
      case .sendText(let bytes): send(.text(String(decoding: bytes, as: UTF8.self)))
      case .sendBinary(let bytes): send(.binary(bytes))
      case .ping: if let line { orders.pings.append(line) }
      case .close(let code): if let line { run(.close(code: code, line)) }
      case .abandon: drop(&orders)
      // Behind what is to be remembered of it.
      case .tell(.state(.ended(let end))): run(.tell(.state(.ended(end))))
      case .tell(let event): tell(event)
      }
    }
    if machine.end != nil { drop(&orders) }
    endWaits()
    return orders
  }

  private mutating func send(_ message: GateMessage) {
    if let line { run(.send(message, line)) }
  }

  private mutating func drop(_ orders: inout Orders) {
    guard let line else { return }
    orders.abandoned.append(line.connection)
    self.line = nil
    reader?.resume(returning: false)
    reader = nil
  }

  private mutating func endWaits() {
    stillness.removeAll { stillness, continuation in
      guard machine.isStill(stillness) else { return false }
      continuation.resume()
      return true
    }
  }

  mutating func wait(for stillness: Stillness, _ continuation: CheckedContinuation<Void, Never>) {
    self.stillness.append((stillness, continuation))
    endWaits()
  }

  // MARK: Errands

  private mutating func run(_ errand: Errand) {
    errands.append(errand)
    guard let runner else { return }
    self.runner = nil
    runner.resume(returning: errands.removeFirst())
  }

  /// The runner asks for the next one; nil when there will be none.
  mutating func nextErrand(_ continuation: CheckedContinuation<Errand?, Never>) {
    if !errands.isEmpty {
      continuation.resume(returning: errands.removeFirst())
    } else if isOver {
      continuation.resume(returning: nil)
    } else {
      runner = continuation
    }
  }

  /// Whether something may be sent over it.
  func isOpen(_ line: Line) -> Bool { self.line?.number == line.number && self.line?.isMute == false }

  // MARK: Connections

  mutating func open(_ connection: any GateConnection) -> Line {
    lines += 1
    let line = Line(number: lines, connection: connection)
    self.line = line
    return line
  }

  func isCurrent(_ line: Line) -> Bool { self.line?.number == line.number }

  mutating func mute(_ line: Line) {
    if isCurrent(line) { self.line?.isMute = true }
  }

  /// The connection is at its end.
  mutating func take(_ line: Line) -> Bool {
    guard isCurrent(line) else { return false }
    self.line = nil
    reader?.resume(returning: false)
    reader = nil
    return true
  }

  /// The reader asks whether it may go on: false when its connection is not the session's any more.
  mutating func mayRead(_ line: Line, _ continuation: CheckedContinuation<Bool, Never>) {
    guard isCurrent(line) else { return continuation.resume(returning: false) }
    if self.line?.isNew == true || events.count < Self.waitingEvents {
      self.line?.isNew = false
      return continuation.resume(returning: true)
    }
    reader = continuation
  }

  /// The app does not listen, and so the gate is not listened to: its silence says nothing.
  var isReadingPaused: Bool { reader != nil }

  // MARK: Events

  var waiting: Int { events.count }
  var isAsked: Bool { consumer != nil }

  mutating func tell(_ event: GameEvent) {
    let mark = machine.mark
    switch (events.last?.event, event) {
    // Nobody has looked, and only the last one still says something.
    case (.state(.connecting)?, .state), (.state(.waiting)?, .state):
      events[events.count - 1] = (event, mark)
    case (.inputDropped(let before)?, .inputDropped(let count)):
      events[events.count - 1] = (.inputDropped(before + count), mark)
    default: events.append((event, mark))
    }
    deliver()
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

  // MARK: The end

  /// Nobody is there any more.
  mutating func drop() -> Orders {
    var orders = Orders()
    drop(&orders)
    isOver = true
    stopAsking()
    runner?.resume(returning: nil)
    runner = nil
    for (_, continuation) in stillness { continuation.resume() }
    stillness = []
    return orders
  }
}

extension SessionMachine {
  fileprivate func isStill(_ stillness: Stillness) -> Bool {
    switch phase {
    case .idle: stillness == .rest
    case .ended: true
    case .waiting: stillness == .rest
    case .connecting, .opening, .attached, .closing, .parting: false
    }
  }
}
