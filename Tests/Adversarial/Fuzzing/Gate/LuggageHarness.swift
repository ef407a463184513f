/// Luggage as another program may have written it: what is taken of it is what was meant, and a session goes on with it.
internal import Bytes
internal import Charsets
@testable internal import Keeping
internal import SessionWire
internal import Time
@testable internal import TelnetWire

enum LuggageHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let snapshot: RestartSnapshot
    do throws(KeptError) {
      snapshot = try RestartSnapshot(coded: bytes)
    } catch {
      return .refused
    }
    try require(snapshot.coded() == bytes, "written again, it differs")
    var again = AgainCache(.usual, bufferBytes: 1 << 20)
    again.restore(snapshot.again)
    for message in again.messages() {
      try require(TelnetEngine.isJSON(message.span), "said again, it is no JSON")
    }
    try checkMessages(OutgoingLedger(limit: 1 << 20, again: again, restoring: snapshot.outgoing), snapshot)
    try checkQueue(snapshot)
    guard var telnet = TelnetEngine(TelnetSettings(), restoring: snapshot.telnet) else {
      throw BrokenProperty("no telnet")
    }
    SlotHarness.hear(&telnet)
    if var decoder = CharsetLibrary(opening: []).decoder(for: .utf8) {
      decoder.restore(heldWord: snapshot.held)
      var text: [UInt8] = []
      decoder.decode([0xBF, 0x61, 0x62, 0x63, 0x64].span, into: &text)
    }
    return .accepted
  }

  /// An app that has got nothing yet gets every number once, as a message or in a gap.
  private static func checkMessages(_ ledger: consuming OutgoingLedger, _ snapshot: RestartSnapshot)
    throws(BrokenProperty)
  {
    var ledger = ledger
    guard ledger.attach(after: 0) else { throw BrokenProperty("nobody can come back") }
    var number = 0
    while ledger.hasUnsent {
      if let gap = ledger.takeGap() {
        number = gap.next - 1
        continue
      }
      var payload: [UInt8] = []
      guard ledger.copyUnsentMessage(into: &payload) != nil else {
        throw BrokenProperty("something is unsent, and nothing comes")
      }
      ledger.markMessageSent()
      number += 1
    }
    try require(number == snapshot.outgoing.last, "\(number) of \(snapshot.outgoing.last) messages")
    let last = ledger.last
    ledger.acknowledge(last)
    let left = ledger.bufferedBytes
    try require(left == ledger.again.bytes, "\(left) bytes are kept of what was acknowledged")
  }

  /// The game takes all of it, and all messages are handled.
  private static func checkQueue(_ snapshot: RestartSnapshot) throws(BrokenProperty) {
    var incoming = IncomingLedger(restoring: snapshot.incoming)
    try require(incoming.snapshot == snapshot.incoming, "restored, the queue is another one")
    incoming.accept(bytes: snapshot.toGame.count, now: MonotonicTime(nanoseconds: 1))
    try require(incoming.unhandled == 0, "\(incoming.unhandled) messages are never handled")
  }
}
