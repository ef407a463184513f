/// How the machine of a session gets its connections, and gets others.
import PortcullisProtocol
import Testing

import PortcullisTesting

@testable import PortcullisClient

@Suite struct MachineConnectionTests {
  // MARK: Connecting

  @Test func aSessionBegins() {
    var played = Played()
    played.machine.begin(now: 0)
    #expect(played.actions() == ["connecting", "connect Portcullis-Client"])
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    #expect(played.actions().isEmpty && !played.machine.isAttached)
    played.receive(Played.greeting(more: #","later":[1,{"a":null}]"#))
    #expect(played.actions() == ["attached(isResumed: false)", "echo(false)"])
    #expect(played.machine.isAttached)
  }

  @Test func whatItSaysOfItselfGoesWithTheUpgradeOrBehindTheGreeting() throws {
    let short = ClientDescription(
      name: "Te\"st", features: ["truecolor"], columns: 80, rows: 24, gmcp: ["Char 1"])
    let text =
      #"{"type":"client","name":"Te\"st","features":["truecolor"],"columns":80,"rows":24,"gmcp":["Char 1"]}"#
    #expect(String(decoding: short.message, as: UTF8.self) == text)
    #expect(
      ClientDescription(columns: 1).field == "eyJ0eXBlIjoiY2xpZW50IiwiY29sdW1ucyI6MX0"
        && ClientDescription(columns: 10).field == "eyJ0eXBlIjoiY2xpZW50IiwiY29sdW1ucyI6MTB9")
    let long = ClientDescription(gmcp: (0..<100).map { "Package.Number \($0)" })
    #expect(long.field == nil)
    var played = Played(client: long)
    played.machine.begin(now: 0)
    #expect(played.actions().last == "connect ")
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    played.receive(Played.greeting())
    #expect(played.actions().last == String(decoding: long.message, as: UTF8.self))
    // Changes go at once, and none goes twice.
    played.machine.update(short)
    played.machine.update(short)
    #expect(played.actions() == [text])
  }

  @Test func aGateThatSpeaksSomethingElse() {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.opened(subprotocol: nil, now: 0)
    #expect(played.actions().contains("abandon"))
    #expect(played.machine.why.kind == .interference)
    #expect((4...5).contains(played.machine.nextTime ?? 0))
  }

  @Test(arguments: [#"{"type":"prompt"}"#, "hello", #"{"type":"session","id":"short"}"#])
  func somethingElseThanAGreeting(text: String) {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.opened(subprotocol: "portcullis.v1", now: 0)
    played.receive(text)
    #expect(played.actions().contains("close 1002"))
    played.machine.closed(code: 1002, now: 0)
    #expect(played.machine.end == .failed(GameFailure(.protocolViolation, detail: "no greeting")))
  }

  @Test func noGreetingAtAll() {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.opened(subprotocol: "portcullis.v1", now: 5)
    #expect(played.machine.nextTime == 15)
    played.machine.tick(now: 15)
    #expect(played.actions().contains("abandon"))
    if case .waiting = played.machine.phase {} else { Issue.record("\(played.machine.phase)") }
  }

  @Test func aFirstFailureMayBeFinal() {
    var played = Played(triesFirstAgain: false)
    played.machine.begin(now: 0)
    played.machine.failed(Played.lost, now: 0)
    #expect(played.machine.end == .failed(Played.lost))
    played = Played(triesFirstAgain: false)
    played.machine.begin(now: 0)
    played.machine.refused(GateRefusal(status: 429, code: "rate_limited", retryAfter: 3), now: 0)
    #expect(played.machine.end?.failure?.code == .rateLimited)
  }

  // MARK: Refusals

  @Test func refusalsThatAreTriedAgainOnce() {
    var played = Played()
    played.machine.begin(now: 0)
    _ = played.actions()
    played.machine.refused(GateRefusal(status: 401, code: "nonce_invalid", retryAfter: nil), now: 0)
    #expect(played.actions() == ["connect Portcullis-Client"])
    played.machine.refused(GateRefusal(status: 401, code: "assertion_rejected", retryAfter: nil), now: 0)
    #expect(played.actions() == ["renew key"])
    played.machine.renewed()
    #expect(played.actions() == ["connect Portcullis-Client"])
    played.machine.refused(GateRefusal(status: 401, code: "assertion_rejected", retryAfter: nil), now: 0)
    #expect(played.actions() == ["renew key"])
    let refusal = GateRefusal(status: 401, code: "assertion_rejected")
    played.machine.giveUp(refusal.failure)
    #expect(played.machine.end == .failed(refusal.failure))
  }

  @Test(arguments: [
    "key_revoked", "attestation_rejected", "assertion_required", "bad_request",
  ])
  func refusalsThatAreFinal(code: String) {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.refused(GateRefusal(status: 403, code: code, retryAfter: nil), now: 0)
    #expect(played.machine.end?.failure?.code?.rawValue == code)
  }

  private enum Consequence {
    case atOnce, newKey, pause, end
  }

  /// What comes of each code that `Portcullis-Error` may have (docs/app.md), where it is the first refusal.
  @Test(arguments: RefusalCode.allCases) func eachRefusal(code: RefusalCode) throws {
    let others: [String: Consequence] = [
      "nonce_invalid": .atOnce, "assertion_rejected": .atOnce, "key_unknown": .newKey,
      "superseded": .pause, "rate_limited": .pause, "overloaded": .pause, "shutting_down": .pause,
      "backend_unavailable": .pause, "store_unavailable": .pause, "request_timeout": .pause,
      "internal_error": .pause, "too_many_open": .pause, "subject_locked": .pause,
      "quota_exceeded": .pause,
    ]
    let status = code.statusCode
    var played = Played()
    played.machine.begin(now: 0)
    _ = played.actions()
    played.machine.refused(GateRefusal(status: status, code: code.rawValue, retryAfter: 20), now: 100)
    switch others[code.rawValue] ?? .end {
    case .atOnce: #expect(played.actions() == ["connect Portcullis-Client"])
    case .newKey: #expect(played.actions() == ["renew key"])
    case .pause:
      #expect((120...122).contains(try #require(played.machine.nextTime)))
      // The gate's word goes before a better network.
      played.machine.networkChanged(now: 101)
      #expect(!played.actions().contains { $0.hasPrefix("connect ") })
    case .end:
      #expect(played.machine.end?.failure?.code == code)
      #expect(!played.actions().contains { $0.hasPrefix("connect ") || $0 == "renew key" })
    }
  }

  @Test(arguments: [("rate_limited", 429), ("shutting_down", 503), ("new_word", 503), (nil, 200)])
  func refusalsThatPass(code: String?, status: Int) throws {
    var played = Played()
    played.machine.begin(now: 0)
    played.machine.refused(GateRefusal(status: status, code: code, retryAfter: 20), now: 100)
    let next = try #require(played.machine.nextTime)
    #expect((120...122).contains(next))
    _ = played.actions()
    played.machine.tick(now: next)
    #expect(played.actions().last == "connect Portcullis-Client")
  }

  @Test func pausesGrowToTheirLimitAndAreSpread() {
    var pauses: [Double] = []
    var retries = Retries(seed: 3)
    for _ in 0..<1000 { pauses.append(retries.pause()) }
    #expect(pauses[0] <= 1 && pauses[1] <= 2 && pauses[2] <= 4)
    #expect(pauses.allSatisfy { (0...30).contains($0) } && pauses.max() ?? 0 > 28)
    #expect(pauses.filter { $0 < 15 }.count > 400)
    retries.succeed()
    #expect(retries.pause() <= 1)
  }

  // MARK: Resuming

  @Test func theRequestNamesSessionAndCount() {
    var played = Played.attached()
    for _ in 0..<3 { played.receive(binary: [0x61], now: 0) }
    played.machine.closed(code: 1006, now: 0)
    played.machine.networkChanged(now: 0)
    let request = played.machine.takeActions().compactMap { action in
      if case .connect(let request) = action { request } else { nil }
    }
    #expect(request.map { $0["Portcullis-Resume"] } == ["\(Played.id);received=3"])
  }

  @Test func theNewIdentifierIsUsedOnceItHasCome() {
    var played = Played.attached()
    let other = "BBBBBBBBBBBBBBBBBBBBB_"
    played.reconnect()
    played.machine.closed(code: 1006, now: 1)
    played.reconnect(now: 1)
    #expect(played.machine.greeting?.id == Played.id)
    played.receive(Played.greeting(other, resumed: true))
    #expect(played.machine.greeting?.id == other)
  }

  @Test func aGapMovesTheCount() {
    var played = Played.attached()
    played.receive(#"{"type":"gap","messages":4,"next":5}"#)
    played.receive(#"{"type":"gap","messages":null,"next":9}"#)
    #expect(played.machine.arrivals.received == 8)
    #expect(played.actions() == ["gap(messages: Optional(4))", "gap(messages: nil)"])
    played.receive(#"{"type":"gap","messages":1,"next":8}"#)
    played.machine.closed(code: 1002, now: 0)
    #expect(played.machine.end == .failed(GameFailure(.protocolViolation, detail: "a gap that goes back")))
  }

  @Test func doubtIsTold() throws {
    var played = Played.attached()
    try played.machine.send([0x61], now: 0)
    played.reconnect()
    played.receive(Played.greeting(resumed: true, received: 1, more: #","doubt":1"#))
    #expect(played.actions().contains("doubt(1)"))
  }

  @Test func noOtherSessionWhereNoneIsWanted() {
    var played = Played.attached(beginsAnew: false)
    played.reconnect()
    played.receive(Played.greeting("CCCCCCCCCCCCCCCCCCCCCC", more: #","reason":"unknown""#))
    #expect(played.actions().contains("close 1000"))
    played.machine.closed(code: 1006, now: 0)
    #expect(played.machine.end == .gone)
  }

  @Test func itGivesUpWhenTheSessionsTimeIsOver() {
    var played = Played.attached(givesUpWithSession: true)
    played.machine.closed(code: 1006, now: 100)
    var now = 100.0
    while played.machine.end == nil, now < 2000 {
      now = played.machine.nextTime ?? 2000
      played.machine.tick(now: now)
      played.machine.failed(Played.lost, now: now)
    }
    #expect(played.machine.end == .gaveUp && (600...700).contains(now))
  }

  /// Connections that break at once are tried ever more slowly, unless each gets something through.
  @Test func pausesGrowUnlessSomethingGetsThrough() throws {
    for getsThrough in [false, true] {
      var played = Played.attached(inputPatience: nil)
      var longest = 0.0
      for round in 1...40 {
        try played.machine.send([0x61], now: 0)
        played.machine.closed(code: 1006, now: 0)
        longest = max(longest, played.machine.nextTime ?? 0)
        played.machine.networkChanged(now: 0)
        played.machine.opened(subprotocol: "portcullis.v1", now: 0)
        played.receive(Played.greeting(resumed: true, received: getsThrough ? round : 0))
      }
      #expect(getsThrough ? longest <= 1 : longest > 10)
    }
  }
}
