/// What a kept session notes on the path of one message each way: both marks, and the counts twice.
internal import Addresses
internal import Bytes
internal import Keeping
internal import SessionWire
internal import Time
internal import TelnetWire

enum SlotMeasure {
  private static let rounds = 10_000

  /// - Returns: nanoseconds of the processor's for both ways of a message, and for a new description.
  static func run(seconds: Double) throws -> Report {
    let description = KeptDescription(
      ids: [Bytes32(words: 1, 2, 3, 4)], credential: .assertion(KeyIdentifier(Bytes32(words: 5, 6, 7, 8))),
      number: 1, startedAt: MonotonicTime(nanoseconds: 1), changedAt: MonotonicTime(nanoseconds: 1),
      source: Endpoint(address: .loopbackV4, port: 1), leg: 1)
    guard var slot = try SlotFile.create(limit: 1).claim(description, KeptProgress()) else {
      throw Broken("no slot")
    }
    var outgoing = OutgoingLedger(limit: 65_536, again: AgainCache(.usual, bufferBytes: 65_536))
    outgoing.attach()
    let incoming = IncomingLedger(taken: 5)
    let telnet = TelnetEngine(TelnetSettings(), client: ClientDescription())
    var messages: UInt64 = 0
    func progress() -> KeptProgress {
      messages += 1
      return KeptProgress(
        outgoing: outgoing, incoming: incoming, telnet: telnet, held: 0, bytesFromGame: messages,
        bytesFromPlayer: messages)
    }
    let bothWays = nanoseconds(seconds) {
      slot.willRead()
      slot.didRead(progress())
      slot.willWrite(messages: 1, bytes: 64)
      slot.didWrite(progress())
    }
    let described = nanoseconds(seconds) { slot.describe(description, progress()) }
    let sequence = slot.sequence
    guard sequence > messages else { throw Broken("\(messages) messages, and \(sequence) copies") }
    return Report(("both_ways_nanoseconds", bothWays), ("description_nanoseconds", described))
  }

  private static func nanoseconds(_ seconds: Double, _ body: () -> Void) -> Double {
    let clock = ProcessorClock()
    var done = 0
    while clock.seconds < seconds {
      for _ in 0..<rounds { body() }
      done += rounds
    }
    return clock.seconds * 1e9 / Double(done)
  }
}
