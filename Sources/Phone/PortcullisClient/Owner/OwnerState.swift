/// What a session's owner keeps under its lock: the machine, the connection, what waits for the app and for the gate.
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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
  var events: [(event: GameEvent, mark: ArrivalMark)] = []
  /// After the event that the app has and has not handled yet.
  var held: ArrivalMark?
  /// The end was told, or nobody is there to be told.
  var isOver = false
  var consumer: CheckedContinuation<GameEvent?, Never>?

  // To the gate.
  private(set) var line: Line?
  private var lines = 0
  private var errands: [Errand] = []
  private var runner: CheckedContinuation<Errand?, Never>?
  var reader: CheckedContinuation<Bool, Never>?

  var isEndTold = false
  private var stillness: [(Stillness, CheckedContinuation<Void, Never>)] = []

  let log: GameLog

  init(_ machine: SessionMachine) {
    self.machine = machine
    log = GameLog(machine.policy.log)
  }

  // MARK: Actions

  /// What is left to be done outside the lock.
  struct Orders {
    var connect: SessionRequest?
    var recalls = false
    var renewsKey: GameFailure?
    var pings: [Line] = []
    var abandoned: [any GateConnection] = []
  }

  /// Does what the machine asks for, as far as that can be done here.
  /// - Parameters:
  ///   - now: on the session's clock.
  ///   - wall: Unix time in seconds at that moment.
  mutating func heed(now: Double, wall: Double) -> Orders {
    var orders = Orders()
    for action in machine.takeActions() {
      switch action {
      case .connect(let request): orders.connect = request
      case .recall: orders.recalls = true
      case .renewKey(let failure): orders.renewsKey = failure
      case .remember(let session): run(.remember(session))
      case .sendText(let bytes): send(.text(String(decoding: bytes, as: UTF8.self)))
      case .sendBinary(let bytes): send(.binary(bytes))
      case .ping: if let line { orders.pings.append(line) }
      case .close(let code): if let line { run(.close(code: code, line)) }
      case .abandon: drop(&orders)
      // After what is to be remembered of it.
      case .tell(.state(.ended(let end))): run(.tell(.state(.ended(end))))
      case .tell(let event): tell(event)
      case .tellWaiting(let until, let why):
        let date = until.isFinite ? Date(timeIntervalSince1970: wall + (until - now)) : .distantFuture
        tell(.state(.waiting(until: date, why: why)))
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

  mutating func endWaits() {
    let waiting = stillness
    stillness = waiting.filter { !isStill($0.0) }
    for (stillness, continuation) in waiting where isStill(stillness) { continuation.resume() }
  }

  private func isStill(_ stillness: Stillness) -> Bool {
    switch machine.phase {
    // Once what is to be remembered was.
    case .ended: isEndTold
    case .idle, .recalling, .waiting: stillness == .rest
    case .connecting, .opening, .attached, .closing, .parting: false
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
