/// A session's slot as another program may have left it: it comes to a session that can go on, to none, or to an error.
///
/// An input is the slot's words. Nobody guesses checksums, so they are put right, and the input is read both ways.
internal import Bytes
@testable internal import Keeping
internal import SessionWire
internal import Time
@testable internal import TelnetWire

enum SlotHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    var words = [UInt64](repeating: 0, count: SlotGeometry.slotWords)
    for (index, byte) in bytes.prefix(words.count * 8).enumerated() {
      words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8)
    }
    _ = try checkContent(words)
    return try checkContent(sealed(words))
  }

  /// With the checksums that its program would have written.
  private static func sealed(_ words: [UInt64]) -> [UInt64] {
    var words = words
    let seed = SlotOwner(word: words[SlotGeometry.owner]).seed(0)
    for copy in 0..<2 {
      let hot = SlotGeometry.hot(copy)
      let naming = words[hot + SlotGeometry.naming]
      let cold = SlotGeometry.cold(Int(naming >> 8 & 1))
      let count = min(Int(naming >> 16 & 0xFFFF), SlotGeometry.coldWords * 8)
      words[hot + SlotGeometry.coldChecksum] = SlotImage.coldChecksum(
        words.span.extracting(cold..<cold + SlotGeometry.coldWords), count: count, seed: seed)
      words[hot] = SlotImage.hotChecksum(
        words.span.extracting(hot..<hot + SlotGeometry.hotWords), seed: seed)
    }
    return words
  }

  private static func checkContent(_ words: [UInt64]) throws(BrokenProperty) -> Verdict {
    switch SlotContent(words, index: 0) {
    case .free, .ending: return .accepted
    case .unreadable: return .refused
    case .kept(let session), .handedOver(let session):
      guard let image = try? SlotImage(words, index: 0) else {
        throw BrokenProperty("a session of words that do not check")
      }
      try require(session.description.coded() == image.cold, "written again, it has another description")
      let written = session.progress.words
      for index in written.indices {
        try require(written[index] == image.progress[index], "written again, its word \(index) differs")
      }
      if let recovery = CrashRecovery(session) { try checkRecovery(recovery, of: session) }
      try checkInterruptedWrite(of: session)
      return .accepted
    }
  }

  /// However much of it the socket has taken.
  private static func checkInterruptedWrite(of session: KeptSession) throws(BrokenProperty) {
    let owed = session.description.owed
    for taken in [0, 1, owed.count / 2, owed.count, owed.count + 1, session.offered] {
      let bytesTaken = session.progress.bytesTaken &+ UInt64(taken)
      guard let recovery = CrashRecovery(session, bytesTaken: bytesTaken) else { continue }
      let progress = recovery.session.progress
      try require(
        progress.handled >= session.progress.handled
          && progress.handled <= session.progress.handled + max(session.writing ?? 0, 1),
        "other messages are handled")
      try require(
        owed.suffix(recovery.session.description.owed.count) == recovery.session.description.owed[...],
        "something else is owed")
      try require(recovery.incoming.taken == progress.taken, "other messages were taken")
    }
  }

  private static func checkRecovery(_ recovery: CrashRecovery, of session: KeptSession) throws(BrokenProperty)
  {
    let progress = recovery.session.progress
    try require(CrashRecovery(recovery.session)?.session == recovery.session, "a second kill changes it")
    try require(
      progress.handled == session.progress.handled + (session.writing ?? 0),
      "messages are handled that are not")
    let incoming = recovery.incoming
    try require(incoming.handled == progress.handled && incoming.taken == progress.taken, "other counts")
    var outgoing = recovery.outgoing(limit: 1000, again: AgainCache(.usual, bufferBytes: 1000))
    guard outgoing.attach(after: progress.highestSent) else { throw BrokenProperty("nobody can come back") }
    let gap = outgoing.takeGap()
    try require(gap?.next == progress.last + 1, "no gap")
    guard var telnet = TelnetEngine(TelnetSettings(), restoring: recovery.telnet) else {
      throw BrokenProperty("no telnet")
    }
    hear(&telnet)
  }

  /// Goes on as a game may: nothing of it traps.
  static func hear(_ telnet: inout TelnetEngine) {
    let input: [UInt8] = [
      0x61, 255, 240, 255, 250, 24, 1, 255, 240, 255, 253, 24, 255, 251, 201, 255, 253, 39,
    ]
    var output: [UInt8] = []
    var position = 0
    telnet.update(ClientDescription(), into: &output)
    while position < input.count {
      switch telnet.next(input.span, position: &position, now: MonotonicTime(nanoseconds: 1), into: &output) {
      case .needMore, .again, .waits: return
      case .text, .prompt, .echo, .gmcp, .gmcpAgreed, .msdp, .msdpAgreed, .mssp, .charset,
        .compressionStarted,
        .compressionEnded, .compressionFailed, .dropped:
        continue
      }
    }
  }
}
