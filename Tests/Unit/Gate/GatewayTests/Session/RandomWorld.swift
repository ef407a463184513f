import KeyStore
import Kit
import System
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling

/// What happens in `RandomScheduleTests`, and what must be true of it.
struct World {
  private let harness: LoopHarness
  private var numbers: SplitMix
  private let seed: UInt64
  private var players: [ModelPlayer]
  /// Whether sessions may go without a reason that the model knows.
  private let losesSessions: Bool
  var keys: [TestKey] = []

  init(_ harness: LoopHarness, _ seed: UInt64, players: Int, losesSessions: Bool = false) {
    self.harness = harness
    self.seed = seed
    self.losesSessions = losesSessions
    numbers = SplitMix(seed: seed)
    self.players = (0..<players).map { ModelPlayer(TestApp(harness), number: $0) }
  }

  mutating func step() throws {
    let index = numbers.next(below: players.count)
    switch numbers.next(below: 100) {
    case 0..<14: players[index].type()
    case 14..<24: say(to: index)
    case 24..<30: players[index].app.acknowledge()
    case 30..<36: players[index].vanish()
    case 36..<50: try call(index)
    case 50..<52: close(index, 1000)
    case 52..<54: close(index, numbers.next(below: 2) == 0 ? 1001 : nil)
    case 54..<56: leave(index)
    case 56..<57: endGame(of: index)
    case 57..<58: order()
    case 58..<60: harness.clock.advance(.milliseconds(numbers.next(below: 3000)))
    case 60..<61 where losesSessions: harness.clock.advance(.seconds(25))
    default: harness.loops[numbers.next(below: 2)].turn(waiting: 0)
    }
    listen()
  }

  // MARK: What happens

  private mutating func call(_ index: Int) throws {
    let key = keys.isEmpty ? nil : keys[index % keys.count]
    try players[index].call(at: numbers.next(below: 2), fields: key?.fields() ?? [])
  }

  private mutating func say(to index: Int) {
    guard let caller = players[index].caller else { return }
    players[index].gameLines += 1
    caller.say("T\(players[index].gameLines)\r\n")
  }

  private mutating func close(_ index: Int, _ code: Int?) {
    guard players[index].isTalking else { return }
    players[index].app.close(code)
    if code == 1000 { players[index].mayBeOver = true }
    players[index].isTalking = false
  }

  private mutating func leave(_ index: Int) {
    guard players[index].isTalking else { return }
    players[index].app.leave()
    players[index].isTalking = false
  }

  private mutating func endGame(of index: Int) {
    guard let caller = players[index].caller else { return }
    caller.close()
    players[index].mayBeOver = true
  }

  private mutating func order() {
    let reasons: [SessionEnd] = [.closedByOperator, .replaced, .closedByOperator]
    let reason = reasons[numbers.next(below: reasons.count)]
    let loop = harness.loops[numbers.next(below: 2)]
    var tokens: [(Token, UInt64)] = []
    loop.sessions.forEach { if $0.number > 0 { tokens.append(($0.token, $0.number)) } }
    guard !tokens.isEmpty else { return }
    let (token, _) = tokens[numbers.next(below: tokens.count)]
    // Its app is told so, now or when it comes back.
    loop.mailbox.post(.end(token, reason, nil))
    loop.turn(waiting: 0)
  }

  // MARK: What must be true

  private mutating func listen() {
    harness.game?.accept()
    for caller in harness.game?.callers ?? [] { caller.hear() }
    for index in players.indices {
      players[index].listen(to: harness.game?.callers ?? [], losesSessions: losesSessions, seed)
    }
  }

  /// Everybody comes back and says what is left to be said: then the game has all of it, and each app what it was told.
  mutating func expectAllSaid() throws {
    var heard = 0
    for index in players.indices {
      players[index].vanish()
      for _ in 0..<8 { harness.turn() }
      try call(index)
      for _ in 0..<8 {
        harness.turn()
        listen()
      }
      players[index].type()
      for _ in 0..<40 {
        harness.pass(.milliseconds(200))
        listen()
      }
      if players[index].expectAllHeard(seed) { heard += 1 }
    }
    // Of the others the stay is over.
    #expect(heard > 0, "seed \(seed)")
  }

  /// All go, or are sent away by a drain and a stop while everything is under way.
  mutating func goHome() {
    if seed.isMultiple(of: 2) {
      harness.shared.postToAll(.drain(spread: .seconds(2)))
      for _ in 0..<numbers.next(below: 20) { harness.loops[numbers.next(below: 2)].turn(waiting: 0) }
      for _ in 0..<4 { harness.pass(.seconds(1)) }
      harness.shared.postToAll(.abandon)
    }
    for index in players.indices { players[index].vanish() }
    for _ in 0..<12 { harness.pass(.seconds(15)) }
    harness.settle()
    harness.expectNothingLeft("seed \(seed)")
  }
}

/// An app and what it knows of its present session.
struct ModelPlayer {
  let app: TestApp
  private let number: Int
  /// Sessions of it so far.
  private var session = 0
  /// The id it was told last.
  private var id: String?
  private var lines = 0
  var gameLines = 0
  /// The last line of the game's that the app has.
  private var heardLines = 0
  private(set) var caller: TestGame.Caller?
  /// Something was done that may have ended its session.
  var mayBeOver = false
  /// Connected, with nothing said that ends it.
  var isTalking = false
  private var hasGap = false

  init(_ app: TestApp, number: Int) {
    self.app = app
    self.number = number
  }

  mutating func call(at loop: Int, fields: [String]) throws {
    app.vanish()
    try app.call(at: loop, fields: fields)
    (isTalking, id) = (false, nil)
  }

  mutating func vanish() {
    app.vanish()
    isTalking = false
  }

  /// The first line of a session says whose it is.
  mutating func type() {
    guard isTalking else { return }
    app.type(lines == 0 ? "S\(number).\(session)\n" : "L\(lines)\n")
    lines += 1
  }

  mutating func listen(to callers: [TestGame.Caller], losesSessions: Bool, _ seed: UInt64) {
    let textBefore = app.text
    app.hear()
    if let new = app.id, new != id, app.eventTypes().first == "session" { begin(new, losesSessions, seed) }
    if app.closeCode != nil {
      isTalking = false
      #expect(app.framesBehindClose == 0, "seed \(seed)")
    }
    if app.eventTypes().contains("gap") { hasGap = true }
    if app.eventTypes().contains("ended") { mayBeOver = true }
    if app.text != textBefore { readGame(seed) }
    if caller == nil, session > 0 { caller = callers.first { $0.lines.first == "S\(number).\(session)" } }
    if let caller { readInput(caller, seed) }
  }

  private mutating func begin(_ new: String, _ losesSessions: Bool, _ seed: UInt64) {
    let hadOne = session > 0
    id = new
    isTalking = true
    if app.wasResumed {
      app.sayAgain()
      return
    }
    if hadOne, !losesSessions { #expect(mayBeOver, "seed \(seed), player \(number): its session was lost") }
    session += 1
    (lines, gameLines, heardLines, caller, mayBeOver, hasGap) = (0, 0, 0, nil, false, false)
    type()
  }

  /// Lines of the game's come in order, and none is missing without a gap.
  private mutating func readGame(_ seed: UInt64) {
    var last = 0
    for line in app.text.split(separator: "\r\n") {
      guard let number = Int(line.dropFirst()) else { continue }
      if hasGap {
        #expect(number > last, "seed \(seed)")
      } else {
        #expect(number == last + 1, "seed \(seed)")
      }
      last = number
    }
    heardLines = last
  }

  /// What the app said comes in order, each line once.
  private func readInput(_ caller: TestGame.Caller, _ seed: UInt64) {
    for (index, line) in caller.lines.enumerated().dropFirst() {
      #expect(line == "L\(index)", "seed \(seed), player \(number)")
    }
    #expect(caller.lines.count <= lines, "seed \(seed), player \(number)")
  }

  /// False where its stay may be over.
  func expectAllHeard(_ seed: UInt64) -> Bool {
    if mayBeOver { return false }
    guard isTalking, let caller else {
      Issue.record("seed \(seed), player \(number): it could not come back")
      return true
    }
    #expect(caller.lines.count == lines, "seed \(seed), player \(number)")
    #expect(heardLines == gameLines, "seed \(seed), player \(number)")
    #expect(app.handled == lines, "seed \(seed), player \(number)")
    return true
  }
}
