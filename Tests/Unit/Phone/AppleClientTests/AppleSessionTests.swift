/// A session as an app on an iPhone has it, by Apple's adapters alone, against a gate that runs.
@testable internal import AppleClient
internal import AppleDeviceCheck
internal import AppleFoundation
internal import AppleNetwork
internal import AppleSecurity
internal import AppAttest
internal import Device
internal import Crypto
internal import System
internal import Addresses
internal import Gateway
internal import TestGate
internal import Testing
internal import Time

@Suite(.timeLimit(.minutes(3))) struct AppleSessionTests {
  private let phone = AppleDevice()
  private var appAttest: FakeAppAttest { phone[FakeAppAttest.self] }
  private var paths: FakePaths { phone[FakePaths.self] }

  private func session(_ port: UInt16, _ options: GameOptions = GameOptions()) async throws -> GameSession {
    let url = try #require(URL(string: "https://localhost:\(port)"))
    return await phone.run {
      GameSession(gate: url, client: ClientDescription(name: "Test", version: "1"), options: options)
    }
  }

  /// Plays a line, and leaves the character in the game.
  private func play(_ session: GameSession) async -> (isResumed: Bool?, text: String, events: [GameEvent]) {
    await phone.run {
      var isResumed: Bool?
      var text = ""
      var events: [GameEvent] = []
      for await event in session.events {
        events.append(event)
        switch event {
        case .state(.attached(let resumed)):
          isResumed = resumed
          try? session.send("hello")
        case .text(let more): text += more
        case .state(.ended): return (isResumed, text, events)
        default: break
        }
        if text.contains("hello") { await session.leave() }
      }
      return (isResumed, text, events)
    }
  }

  @Test func aFirstStartRegistersAndASecondComesBack() async throws {
    let authority = try TestAttestationAuthority.create(now: SystemClock().wall())
    let root = authority.root.der
    let game = try EchoGame()
    let gate = try TestGate(
      root: AttestationRoot(der: root.span),
      [("APPATTEST_ENVIRONMENT", "development"), ("BACKEND", "127.0.0.1:\(game.port)")])
    defer { gate.end() }
    appAttest.begin(authority, appID: TestGate.appID)
    phone[FakeNetwork.self].trust(gate.certificate)
    let port = try #require(gate.gate.endpoints.first?.port)

    let first = await play(try await session(port))
    #expect(first.isResumed == false && first.text.contains("hello"), "\(first.events)")
    #expect(appAttest.requests.map(\.call) == [.generateKey, .attestKey, .generateAssertion])
    let second = await play(try await session(port))
    #expect(second.isResumed == true && second.text.contains("hello"), "\(second.events)")
    #expect(appAttest.count(.generateKey) == 1 && appAttest.count(.attestKey) == 1)
    #expect(
      await eventually { phone[FakeNetwork.self].livingSessions == 0 }, "a session of URLSession is left")
  }

  /// Where the network is another one, or is back, an attempt is made at once, and the monitor goes with its session.
  @Test func aChangeOfTheNetworkEndsTheWait() async throws {
    let attempts = Monitor(0)
    var script = ScriptedLoader.Script.failing(.notConnectedToInternet)
    let fail = script.begin
    script.begin = { task in
      attempts.withLock { count, _ in count += 1 }
      fail(task)
    }
    phone[FakeNetwork.self].script("localhost", script)
    phone[FakePaths.self].change(to: NWPath(.unsatisfied))
    try await phone.run {
      let session = try await session(1)
      events: for await event in session.events {
        guard case .state(.waiting(let until, let why)) = event else { continue }
        #expect(why.kind == .offline && why.detail == "URLError -1009")
        let before = attempts.withLock { count, _ in count }
        paths.change(to: NWPath(.satisfied, "pdp_ip0"))
        #expect(await eventually { attempts.withLock { count, _ in count } > before })
        #expect(Date() < until, "it would have come by itself")
        break events
      }
      #expect(paths.monitors == 1)
    }
    #expect(
      await eventually {
        paths.change(to: NWPath(.satisfied, "en0"))
        return paths.monitors == 0
      }, "the monitor outlives its session")
  }
}
