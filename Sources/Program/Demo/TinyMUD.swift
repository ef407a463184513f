/// A game of three rooms and one fight on a TCP port of the loopback: enough of a MUD to stand behind the gate in a demonstration.
package import Addresses
internal import Bytes
internal import Sockets
internal import Synchronization
package import System
internal import Time

package final class TinyMUD: Sendable {
  /// Of a fight, in all.
  package static let rounds = 24
  fileprivate static let roundTime: Duration = .milliseconds(50)

  package let endpoint: Endpoint
  private let thread: JoinHandle
  private let wakeUp: WakeUpBox
  private let state: GameCounts

  /// Listens on a free port of 127.0.0.1 and plays on a thread of its own.
  package init() throws(SystemError) {
    let listener = try Listener(
      on: Endpoint(address: .loopbackV4, port: 0), sharesPort: false)
    guard let endpoint = listener.socket.localAddress()?.endpoint else { throw SystemError("getsockname") }
    self.endpoint = endpoint
    let wakeUp = WakeUpBox(try WakeUp())
    let state = GameCounts()
    self.wakeUp = wakeUp
    self.state = state
    let table = GameTableBox(listener)
    thread = JoinHandle(
      try Thread(name: "mud") {
        var game = GameTable(table, wakeUp, state)
        game.run()
      })
  }

  /// How many connections it has had: nothing that the gate refuses may be among them.
  package var visits: Int { state.visits.load(ordering: .relaxed) }

  /// Who is asked from now on before somebody is promoted.
  package func consult(_ service: ApprovalService) {
    state.approvals.withLock { $0 = service }
  }

  /// Ends the game and waits for its thread, and for those who ask.
  package func stop() {
    state.approvals.withLock { $0 }?.stop()
    state.isStopping.store(true, ordering: .relaxed)
    wakeUp.value.signal()
    thread.join()
  }
}

private final class WakeUpBox: Sendable {
  let value: WakeUp
  init(_ value: consuming WakeUp) { self.value = value }
}

private final class GameCounts: Sendable {
  let visits = Atomic<Int>(0)
  let isStopping = Atomic<Bool>(false)
  let approvals = Mutex<ApprovalService?>(nil)
  /// What other threads have for players.
  let news = Mutex<[News]>([])

  struct News {
    let player: UInt64
    let text: String
    /// A code is asked about by this, for that login.
    var asked: (login: String, challenge: String)?
  }

  func tell(_ player: UInt64, _ text: String, asked: (login: String, challenge: String)? = nil) {
    news.withLock { $0.append(News(player: player, text: text, asked: asked)) }
  }
}

/// Carries the listener into the game's thread, which alone uses it.
private final class GameTableBox: Sendable {
  let listener: Listener
  init(_ listener: consuming Listener) { self.listener = listener }
}

private struct GameTable: ~Copyable {
  private let clock = SystemClock()
  private let door: GameTableBox
  private let wakeUp: WakeUpBox
  private let counts: GameCounts
  private var players: [UInt64: Player] = [:]
  private var nextPlayer: UInt64 = 2
  private var lastLogin: UInt64 = 0

  init(_ door: GameTableBox, _ wakeUp: WakeUpBox, _ counts: GameCounts) {
    self.door = door
    self.wakeUp = wakeUp
    self.counts = counts
  }

  mutating func run() {
    do throws(SystemError) {
      let poller = try Poller()
      try poller.addReadable(door.listener.socket, token: 0)
      try wakeUp.value.register(with: poller, token: 1)
      while !counts.isStopping.load(ordering: .relaxed) {
        for index in 0..<poller.wait(milliseconds: untilNextRound) {
          let event = poller.event(index)
          switch event.token {
          case 0: try welcome(poller)
          case 1: tellNews()
          default: listen(to: event.token)
          }
        }
        fight()
      }
    } catch {
      // Without its descriptors there is no game; whoever connects finds the port closed.
    }
  }

  private mutating func welcome(_ poller: borrowing Poller) throws(SystemError) {
    guard case .accepted(let socket, _) = door.listener.accept() else { return }
    counts.visits.wrappingAdd(1, ordering: .relaxed)
    try poller.add(socket, token: nextPlayer)
    let player = Player(nextPlayer, socket)
    players[nextPlayer] = player
    nextPlayer += 1
    player.say(
      "Welcome to the Tiny MUD. Commands: look, say, fight, promote, login, north, south, up, down, quit.")
    player.say(player.place.description)
  }

  private mutating func listen(to token: UInt64) {
    guard let player = players[token] else { return }
    var bytes = [UInt8](repeating: 0, count: 4096)
    reading: while true {
      var span = bytes.mutableSpan
      switch player.socket.receive(into: &span) {
      case .bytes(let count):
        for byte in bytes[..<count] { hear(byte, from: player) }
      case .wouldBlock: break reading
      case .ended, .failed:
        player.isLeaving = true
        break reading
      }
    }
    if player.isLeaving { players[token] = nil }
  }

  // MARK: The fight

  private var untilNextRound: Int32 {
    guard let next = players.values.map(\.nextRound).min(), next != .never else { return -1 }
    return Int32(clamping: (next - clock.monotonic()).wholeMilliseconds + 1)
  }

  /// Rounds come when it is time for them, whether the player listens or not.
  private func fight() {
    let now = clock.monotonic()
    for player in players.values where player.nextRound <= now {
      player.roundsLeft -= 1
      player.say("Round \(TinyMUD.rounds - player.roundsLeft): the crow pecks at you.")
      player.nextRound = player.roundsLeft > 0 ? now + TinyMUD.roundTime : .never
      if player.roundsLeft == 0 { player.say("The crow has had enough.") }
    }
  }

  private mutating func hear(_ byte: UInt8, from player: Player) {
    guard byte == UInt8(ascii: "\n") else {
      if byte != UInt8(ascii: "\r"), player.line.count < 1024 { player.line.append(byte) }
      return
    }
    let command = String(decoding: player.line, as: UTF8.self)
    player.line = []
    obey(command, player)
  }

  private mutating func obey(_ command: String, _ player: Player) {
    if command == "look" {
      player.say(player.place.description)
    } else if command == "fight", player.place == .courtyard {
      player.roundsLeft = TinyMUD.rounds
      player.nextRound = clock.monotonic()
    } else if command == "quit" {
      player.say("Farewell.")
      player.isLeaving = true
    } else if command.hasPrefix("promote ") {
      promote(String(command.dropFirst(8)), player)
    } else if command.hasPrefix("login ") {
      login(String(command.dropFirst(6)), player)
    } else if command.hasPrefix("code ") {
      take(code: String(command.dropFirst(5)), player)
    } else if command.hasPrefix("say ") {
      for other in players.values where other.place == player.place {
        other.say((other === player ? "You say: " : "Somebody says: ") + command.dropFirst(4))
      }
    } else if let next = player.place.next(command) {
      player.place = next
      player.say(next.description)
    } else {
      player.say("You cannot do that here.")
    }
  }

  // MARK: Promotions

  /// Nobody becomes a wizard without a word of Anna's, whose game this is.
  private func promote(_ name: String, _ player: Player) {
    guard let service = counts.approvals.withLock({ $0 }) else {
      return player.say("There is nobody who could allow that.")
    }
    let question = ApprovalService.Question(
      operation: "promote", target: ("player", name), text: "\(name) becomes a wizard.", subject: "anna",
      requester: "wizard-\(player.number)")
    let counts = counts
    let wakeUp = wakeUp
    let number = player.number
    service.ask(question) { news in
      let text =
        switch news {
        case .asked(let code): "Anna is asked. Her phone wants to hear from you: \(code)."
        case .ended("approved"): "\(name) is a wizard now."
        case .ended(let state): "\(name) stays what \(name) was: \(state)."
        case .failed(let reason): "Anna cannot be asked: \(reason)."
        }
      counts.tell(number, text)
      wakeUp.value.signal()
    }
  }

  // MARK: Logins

  /// The gate knows who comes through it. Whoever comes past it has a name, and has to have that one's phone.
  private mutating func login(_ name: String, _ player: Player) {
    guard let service = counts.approvals.withLock({ $0 }) else {
      return player.say("There is nobody who could say who you are.")
    }
    lastLogin += 1
    let login = "telnet-\(player.number)-\(lastLogin)"
    player.login = Player.Login(id: login, name: name)
    let (counts, wakeUp, number) = (counts, wakeUp, player.number)
    service.askForCode(of: name, login: login) { news in
      switch news {
      case .asked(let challenge):
        counts.tell(number, "A code is on \(name)'s phone. Type: code ", asked: (login, challenge))
      case .failed(let reason): counts.tell(number, "You cannot log in: \(reason).")
      case .passed, .wrong: break
      }
      wakeUp.value.signal()
    }
  }

  private func take(code: String, _ player: Player) {
    guard let service = counts.approvals.withLock({ $0 }), let login = player.login,
      let challenge = login.challenge
    else { return player.say("Say who you are first: login.") }
    let (counts, wakeUp, number) = (counts, wakeUp, player.number)
    service.verify(code, for: challenge, login: login.id) { news in
      switch news {
      case .passed: counts.tell(number, "Welcome back, \(login.name).")
      case .wrong: counts.tell(number, "That is not the code.")
      case .failed(let reason): counts.tell(number, "Nobody can say whether that is the code: \(reason).")
      case .asked: break
      }
      wakeUp.value.signal()
    }
  }

  private func tellNews() {
    wakeUp.value.clear()
    let news = counts.news.withLock { news in
      defer { news = [] }
      return news
    }
    for news in news {
      guard let player = players[news.player] else { continue }
      if let asked = news.asked {
        // The player may have begun another one meanwhile, by another name.
        guard player.login?.id == asked.login else { continue }
        player.login?.challenge = asked.challenge
      }
      player.say(news.text)
    }
  }
}
