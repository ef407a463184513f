/// A session for tests, and the one who looks at what happens in it.
import FoundationEssentials
import Kit
import Testing
import PortcullisTesting

@testable import PortcullisClient

/// Reads a session's events, one after the other, and keeps them.
final class Player: Sendable {
  private struct State {
    var events: [GameEvent] = []
    /// How many more it looks at; nil: all.
    var appetite: Int?
    var waiting: CheckedContinuation<Void, Never>?
  }

  let session: GameSession
  private let state: Locked<State>
  private let reading = Locked<Task<Void, Never>?>(nil)

  /// - Parameter appetite: so many events are looked at; nil: all.
  init(_ session: GameSession, appetite: Int? = nil) {
    self.session = session
    state = Locked(State(appetite: appetite))
    let task = Task {
      for await event in session.events {
        self.state.withLock { $0.events.append(event) }
        await self.digest()
      }
    }
    reading.withLock { $0 = task }
  }

  deinit { stop() }

  func stop() { reading.withLock { $0?.cancel() } }

  private func digest() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if let appetite = state.appetite {
          state.appetite = appetite - 1
          if appetite <= 1 {
            state.waiting = continuation
            return
          }
        }
        continuation.resume()
      }
    }
  }

  /// Looks at so many more; nil: all.
  func feed(_ count: Int?) {
    state.withLock { state in
      state.appetite = count
      state.waiting?.resume()
      state.waiting = nil
    }
  }

  var events: [GameEvent] { state.withLock { $0.events } }

  var end: GameEnd? {
    if case .state(.ended(let end))? = events.last { return end }
    return nil
  }

  /// What was shown of the game since the last session began.
  var shown: [String] {
    let events = events
    let start = events.lastIndex(of: .state(.attached(isResumed: false))) ?? 0
    return events[start...].compactMap { event in
      switch event {
      case .text(let text): text
      case .gmcp(_, let data?, isAgain: false): data
      default: nil
      }
    }
  }

  /// A hundred times as fast as time.
  static let fastClock = GameClock(
    now: { GameClock.system.now() * 100 },
    sleep: { seconds in try await GameClock.system.sleep(seconds / 100) },
    wall: { 1_700_000_000 + GameClock.system.now() * 100 })

  static func session(
    _ gate: ScriptedGate, attestor: (any DeviceAttestor)? = nil, storage: any GameStorage = MemoryStorage(),
    options: GameOptions = GameOptions(inputPatience: nil), clock: GameClock = fastClock
  ) throws -> GameSession {
    let url = try #require(URL(string: "https://play.example.com:8443/game"))
    let key = attestor.map {
      AppKey(gate: url, transport: gate, attestor: $0, storage: storage, clock: clock)
    }
    return GameSession(
      gate: url, client: ClientDescription(name: "Test"), transport: gate, key: key, storage: storage,
      options: options, clock: clock)
  }

  static let keyEntry = GameEntry(.key, gate: "play.example.com:8443")
  static let sessionEntry = GameEntry(.session("main"), gate: "play.example.com:8443")

  /// A storage that knows a registered key, a session, or both.
  static func storage(keyID: String? = nil, session: RememberedSession? = nil) -> MemoryStorage {
    var entries: [GameEntry: [UInt8]] = [:]
    if let keyID {
      entries[keyEntry] = AppKeyRecord(key: AppKeyRecord.Key(id: keyID, stage: .registered)).bytes
    }
    if let session { entries[sessionEntry] = session.bytes }
    return MemoryStorage(entries)
  }
}

extension GameStorage {
  var keyRecord: AppKeyRecord? {
    get async { try? await load(Player.keyEntry).flatMap { try? AppKeyRecord(saved: $0) } }
  }

  var session: RememberedSession? {
    get async { try? await load(Player.sessionEntry).flatMap { try? RememberedSession(saved: $0) } }
  }
}

extension ScriptedGate {
  /// - Parameter losses: so many connections break, each where chance says.
  convenience init(seed: UInt64 = 1, losses: Int) {
    var random = SplitMix(seed: seed)
    self.init(faults: Faults(cutsAfter: (0..<losses).map { _ in Int(random.next() % 40) }))
  }
}

extension GateModel.Session {
  /// Without what is empty.
  var heard: [String] { taken.filter { !$0.isEmpty } }

  /// What an app should have shown.
  var expected: [String] {
    said.compactMap { frame in
      switch frame {
      case .binary(let text): text
      case .text(let text) where text.contains("gmcp"): String(text.filter(\.isNumber))
      default: nil
      }
    }
  }
}

/// Waits for something that must happen, however slow the machine is: tests that do not wait may have all threads for
/// minutes, and then nothing happens, nor is looked at.
func eventually(_ what: Comment, _ condition: () async -> Bool) async throws {
  let deadline = GameClock.system.now() + 60
  var looks = 0
  while !(await condition()) {
    looks += 1
    try #require(looks < 10_000 || GameClock.system.now() < deadline, what)
    try await Task.sleep(nanoseconds: 1_000_000)
  }
}
