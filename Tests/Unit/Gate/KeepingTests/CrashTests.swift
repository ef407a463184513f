/// How a session goes on after a kill: what counts as handled, what is in doubt, what is a gap, what is said first.
import Bytes
import Kit
import SessionWire
import Time
import TelnetWire
import Testing
import WebSocketWire

@testable import Keeping

@Suite struct CrashTests {
  private func session(_ change: (inout KeptSession) -> Void = { _ in }) -> KeptSession {
    var random = SplitMix(seed: 1)
    var description = KeptDescription.random(using: &random)
    (description.owed, description.owedEndsMessage, description.owedIsWhole) = ([], false, false)
    (description.isTorn, description.doubt) = (false, 0)
    description.isOver = false
    var progress = KeptProgress()
    (progress.taken, progress.handled) = (12, 10)
    (progress.last, progress.highestSent, progress.acknowledged) = (30, 29, 20)
    progress.telnet.place = .data
    var session = KeptSession(description: description, progress: progress)
    change(&session)
    return session
  }

  @Test func betweenTwoSteps() throws {
    let recovery = try #require(CrashRecovery(session()))
    // What waited in here for the game is its app's again.
    #expect(recovery.session.progress.taken == 10 && recovery.session.progress.handled == 10)
    #expect(recovery.doubt == nil && !recovery.isGapUnknown)
    #expect(recovery.incoming == IncomingLedger(taken: 10))
  }

  @Test func whileWriting() throws {
    let recovery = try #require(CrashRecovery(session { $0.writing = 3 }))
    #expect(recovery.session.progress.handled == 13 && recovery.session.progress.taken == 13)
    #expect(recovery.doubt == 3)
    // Nothing counted was in it.
    let telnet = try #require(CrashRecovery(session { $0.writing = 0 }))
    #expect(telnet.session.progress.handled == 10 && telnet.doubt == nil)
    // Nobody came back between two kills: all of it is in doubt.
    var again = recovery.session
    again.writing = 2
    #expect(CrashRecovery(again)?.doubt == 5)
    #expect(CrashRecovery(again)?.session.progress.handled == 15)
  }

  @Test func whileReading() throws {
    let torn = session {
      $0.wasReading = true
      $0.progress.telnet.place = .body
      $0.progress.telnet.bodyBytes = 9
      $0.progress.telnet.gameSaidCR = true
      $0.progress.held = 1 << 56 | 0xC3
    }
    let recovery = try #require(CrashRecovery(torn))
    #expect(recovery.isGapUnknown)
    #expect(recovery.session.progress.telnet == TelnetState() && recovery.session.progress.held == 0)
    // It stays unknown over another kill, before anybody was told.
    let again = try #require(CrashRecovery(recovery.session))
    #expect(again.isGapUnknown)
  }

  /// An event that is lost half-way was a message that nobody has counted: a gap of none would hide it.
  @Test(arguments: [TelnetState.Place.body, .bodyCommand])
  func withinASubnegotiation(_ place: TelnetState.Place) throws {
    let open = try #require(
      CrashRecovery(
        session {
          $0.progress.telnet.place = place
          $0.progress.telnet.bodyBytes = 9
        }))
    #expect(open.session.progress.telnet.place == place && open.isGapUnknown)
    // Its first byte is still to come.
    let whole = try #require(
      CrashRecovery(
        session {
          $0.progress.telnet.place = place
          $0.progress.telnet.bodyBytes = 0
        }))
    #expect(!whole.isGapUnknown)
  }

  /// The rest of a message that the game's socket took a part of goes first, and the message counts as taken.
  @Test func owed() throws {
    let half = session {
      $0.description.owed = Array("rth\r\n".utf8)
      $0.description.owedEndsMessage = true
    }
    let recovery = try #require(CrashRecovery(half))
    #expect(recovery.session.progress.taken == 11 && recovery.session.progress.handled == 10)
    var incoming = recovery.incoming
    #expect(incoming.taken == 11 && incoming.handled == 10)
    // It is still owed, before anything of it was sent as well.
    #expect(incoming.torn?.bytes == 5 && incoming.torn?.endsMessage == true)
    incoming.accept(bytes: 4, now: MonotonicTime(nanoseconds: 1))
    #expect(incoming.handled == 10)
    incoming.accept(bytes: 1, now: MonotonicTime(nanoseconds: 1))
    #expect(incoming.handled == 11)
    // Another kill before that: the same again.
    #expect(CrashRecovery(recovery.session) == recovery)
    // An answer of telnet's ends none.
    let answer = try #require(CrashRecovery(session { $0.description.owed = [251, 1] }))
    #expect(answer.session.progress.taken == 10 && answer.session.description.owed == [251, 1])
    // Killed while that was sent: whether the game has it nobody knows, and nothing may follow half a line.
    var sending = half
    sending.writing = 1
    #expect(CrashRecovery(sending) == nil)
  }

  @Test func torn() {
    #expect(CrashRecovery(session { $0.description.isTorn = true }) == nil)
    #expect(CrashRecovery(session { $0.description.isOver = true }) == nil)
    let writing = session {
      $0.description.isTorn = true
      $0.writing = 1
    }
    #expect(CrashRecovery(writing) == nil)
  }

  // MARK: What an interrupted write came to

  /// Three messages, in a write that has offered 30 bytes to a socket that had taken 1000 before; of what was owed, the first
  /// eight are.
  private func writing(owed: Int = 0, _ change: (inout KeptSession) -> Void = { _ in }) -> KeptSession {
    session {
      ($0.writing, $0.offered, $0.progress.bytesTaken) = (3, 30, 1000)
      if owed > 0 {
        $0.description.owed = [UInt8](repeating: 0x61, count: owed)
        $0.description.owedEndsMessage = true
      }
      change(&$0)
    }
  }

  /// Whole messages, or none of them: in doubt. A part of one: what came next would be glued to it.
  @Test func taken() throws {
    for bytes: UInt64 in [1000, 1030] {
      let recovery = try #require(CrashRecovery(writing(), bytesTaken: bytes))
      #expect(recovery.doubt == 3 && recovery.session.progress.handled == 13)
      #expect(recovery.session.progress.bytesTaken == bytes && recovery.session.offered == 0)
    }
    for bytes: UInt64 in [1001, 1029] { #expect(CrashRecovery(writing(), bytesTaken: bytes) == nil) }
    // Numbers that cannot be say nothing, and nothing is known of a socket that does not count.
    for bytes: UInt64? in [nil, 0, 999, 1031, .max] {
      #expect(CrashRecovery(writing(), bytesTaken: bytes)?.doubt == 3)
    }
    let early = writing { $0.progress.bytesTaken = 0 }
    #expect(CrashRecovery(early, bytesTaken: 15)?.doubt == 3)
    // A UNIX socket takes so much in one piece.
    #expect(CrashRecovery(writing { $0.offered = 16_384 })?.doubt == 3)
    #expect(CrashRecovery(writing { $0.offered = 16_385 }) == nil)
  }

  /// The rest of a message goes on where it stopped, and what was behind it is its app's.
  @Test func takenOfWhatWasOwed() throws {
    let owing = writing(owed: 8)
    for taken in 0..<8 {
      let recovery = try #require(CrashRecovery(owing, bytesTaken: UInt64(1000 + taken)))
      #expect(recovery.session.description.owed.count == 8 - taken)
      #expect(recovery.session.progress.handled == 10 && recovery.session.progress.taken == 11)
      #expect(recovery.doubt == nil && recovery.incoming.unhandled == 1)
    }
    let ended = try #require(CrashRecovery(owing, bytesTaken: 1008))
    #expect(ended.session.progress.handled == 11 && ended.session.progress.taken == 11)
    #expect(ended.doubt == nil && ended.incoming == IncomingLedger(taken: 11))
    #expect(CrashRecovery(owing, bytesTaken: 1009) == nil)
    let all = try #require(CrashRecovery(owing, bytesTaken: 1030))
    #expect(all.session.progress.handled == 13 && all.doubt == 3)
    #expect(all.session.description.owed == [] && all.incoming == IncomingLedger(taken: 13))
    #expect(CrashRecovery(owing) == nil)
  }

  /// A rest that is too long to be noted.
  @Test func takenOfATornOne() throws {
    let torn = writing { $0.description.isTorn = true }
    for bytes: UInt64? in [nil, 1000, 1029] { #expect(CrashRecovery(torn, bytesTaken: bytes) == nil) }
    let all = try #require(CrashRecovery(torn, bytesTaken: 1030))
    #expect(all.doubt == 3 && !all.session.description.isTorn)
  }

  /// An answer of telnet's that the game may have heard is not said again where nobody knows, and never half.
  @Test func takenOfAnAnswer() throws {
    let answer = writing(owed: 8) {
      ($0.writing, $0.offered) = (0, 8)
      ($0.description.owedEndsMessage, $0.description.owedIsWhole) = (false, true)
    }
    let unknown = try #require(CrashRecovery(answer))
    #expect(unknown.session.description.owed == [] && unknown.doubt == nil)
    let unheard = try #require(CrashRecovery(answer, bytesTaken: 1000))
    #expect(unheard.session.description.owed.count == 8 && unheard.session.description.owedIsWhole)
    let half = try #require(CrashRecovery(answer, bytesTaken: 1003))
    #expect(half.session.description.owed.count == 5 && !half.session.description.owedIsWhole)
    let heard = try #require(CrashRecovery(answer, bytesTaken: 1008))
    #expect(heard.session.description.owed == [] && heard.session.progress.handled == 10)
  }

  /// Inside a subnegotiation everything up to IAC SE is dropped; the text behind it is there.
  @Test func openSubnegotiation() throws {
    var engine = TelnetEngine(TelnetSettings(), client: ClientDescription())
    var output: [UInt8] = []
    var position = 0
    let now = MonotonicTime(nanoseconds: 1)
    let before: [UInt8] = [255, 251, 201, 255, 250, 201] + Array("Char.Vi".utf8)
    while engine.next(before.span, position: &position, now: now, into: &output) != .needMore {}
    let crashed = session { $0.progress.telnet = engine.state }
    let recovery = try #require(CrashRecovery(crashed))
    var next = try present(TelnetEngine(TelnetSettings(), restoring: recovery.telnet))
    let after = Array("tals {}".utf8) + [255, 240] + Array("ok".utf8)
    position = 0
    var events: [TelnetEvent] = []
    while true {
      let event = next.next(after.span, position: &position, now: now, into: &output)
      if event == .needMore { break }
      events.append(event)
    }
    #expect(events.count == 1)
    guard case .text(let text)? = events.first else {
      Issue.record("\(events)")
      return
    }
    #expect(text.count == 2)
    let isAgreed = next.isGMCPAgreed
    #expect(isAgreed)
  }

  // MARK: The gap

  /// What a ledger says, which has no copy.
  private struct Seen {
    let highestSent: Int
    let hasUnsent: Bool
    let unsentBytes: Int
    let isLossUnknown: Bool

    init(_ ledger: borrowing OutgoingLedger) {
      highestSent = ledger.highestSent
      hasUnsent = ledger.hasUnsent
      unsentBytes = ledger.unsentFrames.count
      isLossUnknown = ledger.isLossUnknown
    }
  }

  private func gap(_ ledger: inout OutgoingLedger, resumedAt number: Int) -> OutgoingLedger.Gap? {
    let isKnown = ledger.attach(after: number)
    #expect(isKnown)
    return ledger.takeGap()
  }

  @Test func gapAlways() throws {
    let recovery = try #require(CrashRecovery(session()))
    let again = AgainCache(.usual, bufferBytes: 1000)
    var ledger = recovery.outgoing(limit: 1000, again: again)
    var seen = Seen(ledger)
    #expect(seen.highestSent == 29)
    #expect(gap(&ledger, resumedAt: 25) == OutgoingLedger.Gap(messages: 5, next: 31))
    seen = Seen(ledger)
    #expect(!seen.hasUnsent)
    // It may have been lost on the way.
    ledger.detach()
    #expect(gap(&ledger, resumedAt: 25) == OutgoingLedger.Gap(messages: 5, next: 31))
    ledger.detach()
    // The app has got it, and whatever came before.
    seen = Seen(ledger)
    #expect(seen.highestSent == 30)
    #expect(gap(&ledger, resumedAt: 30) == OutgoingLedger.Gap(messages: 0, next: 31))
    ledger.append(.binary, [0x61].span)
    seen = Seen(ledger)
    #expect(seen.hasUnsent && seen.unsentBytes == 3)
    ledger.markSent(bytes: 3)
    ledger.acknowledge(31)
    ledger.detach()
    #expect(gap(&ledger, resumedAt: 31) == nil)
  }

  @Test func gapUnknown() throws {
    let recovery = try #require(CrashRecovery(session { $0.wasReading = true }))
    var ledger = recovery.outgoing(limit: 1000, again: AgainCache(.usual, bufferBytes: 1000))
    var seen = Seen(ledger)
    #expect(seen.isLossUnknown)
    // What comes meanwhile is not in it.
    ledger.append(.text, Array("{}".utf8).span)
    let isKnown = ledger.attach(after: 29)
    #expect(isKnown)
    seen = Seen(ledger)
    #expect(seen.hasUnsent && seen.unsentBytes == 0)
    let gap = ledger.takeGap()
    #expect(gap == OutgoingLedger.Gap(messages: nil, next: 31))
    let another = ledger.takeGap()
    #expect(another == nil)
    seen = Seen(ledger)
    #expect(seen.unsentBytes == 4)
    ledger.markSent(bytes: 4)
    ledger.acknowledge(31)
    seen = Seen(ledger)
    #expect(!seen.isLossUnknown)
  }
}
