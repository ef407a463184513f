import Kit
import Synchronization
import Time
import Testing

@testable import Admin

/// The listener with its threads and sockets: many peers, peers that do not play along, and work that takes long.
@Suite struct ServerTests {
  /// Everybody's turn comes; who trickles makes room.
  @Test func aProbeIsAnsweredBesideSixtyFourThatTrickle() throws {
    try served(ImaginaryGate()) { path in
      var crowd: [Peer] = []
      for _ in 0..<AdminLoop.Limits.connections { crowd.append(try Peer(path)) }
      for peer in crowd { peer.send("GET /livez HT") }
      for _ in 0..<20 {
        let probe = try Peer(path)
        probe.ask("/livez")
        #expect(probe.hears("\r\n\r\nok\n"))
      }
      // As many as needed, and those who have waited longest.
      #expect(crowd.filter { $0.isCutOff() }.count <= 20 && crowd[0].isCutOff())
      #expect(crowd.last?.isCutOff() == false)
    }
  }

  @Test func aProbeIsAnsweredBesideSixtyFourThatDoNotListen() throws {
    try served(ImaginaryGate()) { path in
      var crowd: [Peer] = []
      for _ in 0..<AdminLoop.Limits.connections {
        let peer = try Peer(path)
        peer.ask("/big.svg")
        crowd.append(peer)
      }
      let probe = try Peer(path)
      probe.ask("/readyz")
      #expect(probe.hears("\r\n\r\nok\n"))
      // One of them had to go, and no more.
      #expect(crowd.filter { $0.isCutOff() }.count == 1)
    }
  }

  /// Who is between two requests loses nothing by a close: it goes before somebody whose request comes.
  @Test func theIdleGoFirst() throws {
    try served(ImaginaryGate()) { path in
      let talking = try Peer(path)
      talking.send("GET /livez HT")
      var crowd: [Peer] = []
      for _ in 1..<AdminLoop.Limits.connections {
        let peer = try Peer(path)
        peer.ask("/livez")
        #expect(peer.hears("ok\n"))
        crowd.append(peer)
      }
      let newcomer = try Peer(path)
      newcomer.ask("/livez")
      #expect(newcomer.hears("ok\n") && crowd[0].rest() == "" && crowd[0].hasEnded)
      talking.send("TP/1.1\r\nHost: a\r\n\r\n")
      #expect(talking.hears("ok\n"))
    }
  }

  /// A byte of a request that never comes is no better a claim than none: who came before goes before.
  @Test func whoHasJustComeStays() throws {
    try served(ImaginaryGate()) { path in
      var crowd: [Peer] = []
      for _ in 1..<AdminLoop.Limits.connections {
        let peer = try Peer(path)
        peer.send("G")
        crowd.append(peer)
      }
      let probe = try Peer(path)
      for _ in 0..<20 { crowd.append(try Peer(path)) }
      // Behind all of them, so that they have come when it is answered.
      let last = try Peer(path)
      last.ask("/livez")
      #expect(last.hears("ok\n") && crowd[0].isCutOff())
      probe.ask("/livez")
      #expect(probe.hears("ok\n"))
    }
  }

  /// Ten seconds from the accept, wherever in them the first byte comes.
  @Test func aFirstRequestThatBeginsLate() throws {
    let clock = ManualClock()
    try served(ImaginaryGate(), clock: clock) { path in
      let (late, poke) = (try Peer(path), try Peer(path))
      poke.ask("/livez")
      #expect(poke.hears("ok\n"))
      clock.advance(.seconds(9))
      late.send("GET /livez HT")
      poke.ask("/livez")
      #expect(poke.hears("ok\n"))
      clock.advance(.seconds(2))
      poke.ask("/livez")
      #expect(poke.hears("ok\n") && late.hears("HTTP/1.1 408 "))
    }
  }

  /// And from his own accept, not from the turn's beginning.
  @Test func whoComesInALongTurn() throws {
    let clock = ManualClock()
    let (before, within) = (Stop(), Stop())
    try served(ImaginaryGate(stops: [before, within]), clock: clock) { path in
      let poke = try Peer(path)
      poke.ask("/stop/0")
      before.reached.wait()
      // Has asked when accepted, and is answered before the next is.
      let first = try Peer(path)
      first.ask("/stop/1")
      before.isOver.open()
      within.reached.wait()
      let next = try Peer(path)
      clock.advance(.seconds(3600))
      within.isOver.open()
      #expect(first.hears("<p>on"))
      let later = try Peer(path)
      later.ask("/livez")
      #expect(later.hears("ok\n"))
      next.ask("/livez")
      #expect(next.hears("ok\n"))
    }
  }

  @Test func aRequestThatDoesNotCome() throws {
    let clock = ManualClock()
    try served(ImaginaryGate(), clock: clock) { path in
      // In this order: when the last has its answer, all have been accepted.
      let (silent, slow, idle) = (try Peer(path), try Peer(path), try Peer(path))
      slow.send("POST /change HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na=")
      idle.ask("/livez")
      #expect(idle.hears("ok\n"))
      clock.advance(.seconds(11))
      let poke = try Peer(path)
      poke.ask("/livez")
      #expect(poke.hears("ok\n"))
      #expect(slow.hears("HTTP/1.1 408 ") && slow.hears("Connection: close\r\n"))
      #expect(silent.rest() == "" && silent.hasEnded)
      idle.ask("/livez")
      #expect(idle.hears("ok\n"))
      clock.advance(.seconds(31))
      _ = try Peer(path)
      #expect(idle.rest() == "" && idle.hasEnded)
    }
  }

  @Test func anAnswerThatIsNotTaken() throws {
    let clock = ManualClock()
    try served(ImaginaryGate(), clock: clock) { path in
      let deaf = try Peer(path)
      deaf.ask("/big.svg")
      // Its request has been read, and then its socket filled, before the clock moves.
      #expect(deaf.hears("HTTP/1.1 200 "))
      let poke = try Peer(path)
      for _ in 0..<2 {
        poke.ask("/livez")
        #expect(poke.hears("ok\n"))
      }
      clock.advance(.seconds(11))
      poke.ask("/livez")
      #expect(poke.hears("ok\n"))
      #expect(deaf.rest().utf8.count < 1 << 20 && deaf.hasEnded)
    }
  }

  @Test func aThousandRequestsAtOnce() throws {
    try served(ImaginaryGate()) { path in
      let peer = try Peer(path)
      let one = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
      peer.send(
        String(repeating: one, count: 999) + "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      let other = try Peer(path)
      other.ask("/livez")
      #expect(other.hears("ok\n"))
      #expect(peer.rest().split(separator: "HTTP/1.1 200 OK\r\n").count == 1000 && peer.hasEnded)
    }
  }

  @Test func aRefusalThatEndsTheConnectionIsHeardWhole() throws {
    try served(ImaginaryGate()) { path in
      let peer = try Peer(path)
      // More than is read: a close at once would be a reset, and the answer lost with it.
      peer.send("GET /\(String(repeating: "a", count: 100_000))")
      let answer = peer.rest()
      #expect(answer.hasPrefix("HTTP/1.1 414 ") && answer.hasSuffix("\n"))
    }
  }

  // MARK: The slow thread

  @Test func whatDoesNotFitIsToldToComeAgain() throws {
    let latch = Latch()
    let gate = ImaginaryGate(latch: latch)
    try served(gate) { path in
      var searching: [Peer] = []
      // One is being worked on, the others wait.
      for number in 0...AdminWorker.longestQueue {
        let peer = try Peer(path)
        peer.ask("/search?q=\(number)")
        searching.append(peer)
        if number == 0 {
          while gate.state.withLock({ $0.worked.isEmpty }) {
            let probe = try Peer(path)
            probe.ask("/livez")
            #expect(probe.hears("ok\n"))
          }
        }
      }
      let tooMuch = try Peer(path)
      tooMuch.ask("/search?q=9")
      #expect(tooMuch.hears("HTTP/1.1 503 ") && tooMuch.hears("\r\nRetry-After: 2\r\n"))
      let probe = try Peer(path)
      probe.ask("/readyz")
      #expect(probe.hears("ok\n"))
      latch.open()
      for peer in searching { #expect(peer.hears("\r\n\r\nfound")) }
      #expect(gate.state.withLock { $0.worked } == (0...8).map { "/search\($0)" })
    }
  }

  /// Also where whoever sent it has gone: a browser that is closed behind a click has clicked.
  @Test func aChangeIsMadeThoughNobodyWaits() throws {
    let latch = Latch()
    let gate = ImaginaryGate(latch: latch)
    try served(gate) { path in
      let peer = try Peer(path)
      peer.ask("/search?q=1")
      do {
        let gone = try Peer(path)
        gone.send("POST /change HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        let probe = try Peer(path)
        probe.ask("/livez")
        #expect(probe.hears("ok\n"))
      }
      latch.open()
      #expect(peer.hears("found"))
      let last = try Peer(path)
      last.ask("/search?q=2")
      #expect(last.hears("found"))
      #expect(gate.state.withLock { $0.worked } == ["/search1", "/change", "/search2"])
    }
  }

  @Test func aChange() throws {
    try served(ImaginaryGate()) { path in
      let peer = try Peer(path)
      peer.send(
        "POST /change HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
          + "Content-Length: 9\r\n\r\nword=doneGET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(peer.hears("HTTP/1.1 303 See Other") && peer.hears("Location: /?done=done\r\n"))
      #expect(peer.hears("\r\n\r\nok\n"))
    }
  }

  /// Of what the slow thread finds too, only what is new is sent.
  @Test func whatIsFoundAndKnown() throws {
    try served(ImaginaryGate()) { path in
      let peer = try Peer(path)
      peer.ask("/api/search")
      #expect(peer.hears("HTTP/1.1 200 ") && peer.hears("ETag: \"44136fa355b3678a1146ad16f7e8649e\"\r\n"))
      #expect(peer.hears("\r\n\r\n{}"))
      let request = "GET /api/search HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: "
      peer.send("\(request)\"44136fa355b3678a1146ad16f7e8649e\"\r\n\r\n")
      #expect(peer.hears("HTTP/1.1 304 ") && peer.hears("\r\n\r\n"))
      peer.send("\(request)\"other\"\r\n\r\n")
      #expect(peer.hears("HTTP/1.1 200 ") && peer.hears("\r\n\r\n{}"))
    }
  }

  /// Revoked while it was searched for: what was found is not given out.
  @Test(arguments: ["/search?q=1", "/export"])
  func whatIsFoundForWhoMayNoMore(target: String) throws {
    let latch = Latch()
    let isRevoked = Atomic(false)
    let gate = ImaginaryGate(latch: latch)
    try served(gate, holds: { _ in !isRevoked.load(ordering: .relaxed) }) { path in
      let peer = try Peer(path)
      peer.ask(target)
      while gate.state.withLock({ $0.worked.isEmpty }) {
        let probe = try Peer(path)
        probe.ask("/livez")
        #expect(probe.hears("ok\n"))
      }
      isRevoked.store(true, ordering: .relaxed)
      latch.open()
      #expect(peer.hears("HTTP/1.1 401 "))
    }
  }

  // MARK: Downloads

  @Test func aDownloadComesInPieces() throws {
    let pieces = [Array("one".utf8), [], Array("twentytwentytwenty".utf8)]
    try served(ImaginaryGate { Pieces(pieces) }) { path in
      let peer = try Peer(path)
      peer.ask("/export")
      #expect(peer.hears("Transfer-Encoding: chunked\r\n") && peer.hears("\r\n3\r\none\r\n"))
      #expect(peer.hears("12\r\ntwentytwentytwenty\r\n0\r\n\r\n"))
      // The connection goes on.
      peer.ask("/livez")
      #expect(peer.hears("ok\n"))
      let old = try Peer(path)
      old.send("GET /export HTTP/1.0\r\nHost: localhost\r\n\r\n")
      let answer = old.rest()
      #expect(answer.hasSuffix("\r\n\r\nonetwentytwentytwenty") && !answer.contains("chunked"))
      peer.send("HEAD /export HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(peer.hears("Transfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK"))
    }
  }

  /// A reader who stops holds up neither searches nor probes, and is let go of in the end, with what the download holds.
  @Test func aReaderWhoStops() throws {
    let clock = ManualClock()
    let released = Atomic(0)
    let gate = ImaginaryGate { Endless { released.wrappingAdd(1, ordering: .relaxed) } }
    try served(gate, clock: clock) { path in
      let stopped = try Peer(path)
      stopped.ask("/export")
      #expect(stopped.hears("chunked"))
      let other = try Peer(path)
      other.ask("/search?q=1")
      #expect(other.hears("found"))
      other.ask("/export")
      #expect(other.hears("HTTP/1.1 503 ") && other.hears("Retry-After: 2"))
      // The one that was refused, and once it takes nothing any more the one of the reader.
      let deadline = SystemClock().monotonic() + .seconds(60)
      while released.load(ordering: .relaxed) < 2, SystemClock().monotonic() < deadline {
        clock.advance(.seconds(11))
        other.ask("/livez")
        #expect(other.hears("ok\n"))
      }
      #expect(released.load(ordering: .relaxed) == 2)
      #expect(stopped.rest().utf8.count > 0 && stopped.hasEnded)
      other.ask("/export")
      #expect(other.hears("chunked"))
    }
    #expect(released.load(ordering: .relaxed) == 3)
  }

  @Test func aStopWaitsForWhatIsBeingDone() throws {
    let latch = Latch()
    let gate = ImaginaryGate(latch: latch)
    try served(gate) { path in
      let peer = try Peer(path)
      peer.ask("/search?q=1")
      while gate.state.withLock({ $0.worked.isEmpty }) {
        let probe = try Peer(path)
        probe.ask("/livez")
        #expect(probe.hears("ok\n"))
      }
      latch.open()
    }
  }
}

/// A download without end.
private final class Endless: AdminBody {
  private let released: @Sendable () -> Void

  init(released: @escaping @Sendable () -> Void) {
    self.released = released
  }

  deinit { released() }

  func next() -> [UInt8]? { Array(repeating: 0x78, count: 65_536) }
}
