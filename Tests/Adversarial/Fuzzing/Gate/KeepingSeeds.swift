/// Seeds of slots and snapshot, as a session's program writes them: they carry checksums and lengths.
internal import Addresses
internal import Bytes
@testable internal import Keeping
@testable internal import SessionWire
internal import Time
@testable internal import TelnetWire
internal import WebSocketWire

extension SignedSeed {
  // MARK: Slots

  private static let description: KeptDescription = {
    var description = KeptDescription(
      ids: [Bytes32(words: 1, 2, 3, 4)], credential: .assertion(KeyIdentifier(Bytes32(words: 5, 6, 7, 8))),
      number: 9, startedAt: MonotonicTime(nanoseconds: 10), changedAt: MonotonicTime(nanoseconds: 11),
      source: Endpoint(address: .loopbackV4, port: 12), leg: 13)
    description.client = client
    description.charset = Array("UTF-8".utf8)
    return description
  }()

  private static let client: ClientDescription = {
    var client = ClientDescription()
    client.name = ClientText(Array("Lantern".utf8))
    client.size = TerminalSize(columns: 80, rows: 24)
    client.gmcp = [Array("Char 1".utf8)]
    return client
  }()

  private static func slot(_ description: KeptDescription, _ change: (inout [UInt64]) -> Void = { _ in })
    -> [UInt8]
  {
    var progress = KeptProgress()
    (progress.taken, progress.handled, progress.last, progress.highestSent) = (3, 2, 5, 5)
    progress.telnet.place = .body
    progress.telnet.bodyBytes = 4
    let memory = SeedMemory()
    let writer = SlotWriter(claiming: 0, of: memory, description, progress)
    writer.publish()
    var words = memory.slot
    change(&words)
    return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
  }

  static let slots: [SignedSeed] = {
    var owing = description
    owing.credential = .device(id: Array(0..<16), attestedKey: nil)
    owing.owed = Array("rth\r\n".utf8)
    owing.owedEndsMessage = true
    var certificate = description
    certificate.credential = .certificate(subject: "Zoë", publicKey: Bytes32(words: 1, 1, 1, 1), terms: nil)
    certificate.source = Endpoint(address: .loopbackV6, port: 1)
    certificate.earlySize = TerminalSize(columns: 1, rows: 2)
    var bounded = certificate
    bounded.credential = .certificate(
      subject: "Zoë", publicKey: Bytes32(words: 1, 1, 1, 1),
      terms: KeptCredential.Terms(authority: 1, end: UnixTime(milliseconds: 1)))
    return [
      SignedSeed(.slot, "accepted-session", slot(description)),
      SignedSeed(.slot, "accepted-owing", slot(owing)),
      SignedSeed(.slot, "accepted-certificate", slot(certificate)),
      SignedSeed(.slot, "accepted-certificate-terms", slot(bounded)),
      SignedSeed(
        .slot, "accepted-while-writing", slot(description) { $0[SlotGeometry.writes] = 1 | 2 << 32 }),
      SignedSeed(.slot, "accepted-ending", slot(description) { $0[0] = $0[0] & ~0xFF | 3 }),
      SignedSeed(.slot, "refused-state", slot(description) { $0[0] |= 0xFF }),
      SignedSeed(.slot, "refused-mark", slot(description) { $0[SlotGeometry.reads] = 2 }),
      SignedSeed(
        .slot, "refused-layout", slot(description) { $0[SlotGeometry.hot(1) + SlotGeometry.naming] |= 0x80 }),
      SignedSeed(
        .slot, "refused-counts", slot(description) { $0[SlotGeometry.hot(1) + SlotGeometry.progress] = .max }),
    ]
  }()

  // MARK: Luggage

  private static func snapshot(_ change: (inout RestartSnapshot) -> Void = { _ in }) -> [UInt8] {
    var again = AgainCache(.usual, bufferBytes: 4000)
    again.noteGMCP(package: Array("Char.Vitals".utf8).span, data: Array(#"{"hp":1}"#.utf8).span)
    again.noteMSDP(data: Array(#"{"HEALTH":"1"}"#.utf8).span)
    var outgoing = OutgoingLedger(limit: 100, again: again)
    outgoing.append(.binary, Array("You see a lantern.\r\n".utf8).span)
    outgoing.append(.text, [UInt8](repeating: 0x20, count: 200).span)
    outgoing.append(.text, Array(#"{"type":"prompt"}"#.utf8).span)
    var incoming = IncomingLedger(taken: 7)
    incoming.take(bytes: 6, size: 6, now: MonotonicTime(nanoseconds: 1))
    incoming.enqueue(bytes: 3)
    incoming.take(bytes: 5, size: 5, now: MonotonicTime(nanoseconds: 1))
    var state = TelnetState()
    state.place = .body
    state.bodyBytes = 3
    state.ofGame.insert(.gmcp)
    var telnet = TelnetSnapshot(state: state, client: client, charset: Array("UTF-8".utf8))
    telnet.body = [201, 0x41, 0x42]
    telnet.hello = Array("{}".utf8)
    telnet.reports = [[1, 0x41, 2, 0x42]]
    var snapshot = RestartSnapshot(
      outgoing: outgoing.snapshot, incoming: incoming.snapshot, again: again.snapshot, telnet: telnet,
      held: 1 << 56 | 0xC3, unread: [255], text: Array("ok".utf8), toGame: [UInt8](repeating: 0x61, count: 14)
    )
    change(&snapshot)
    return snapshot.coded()
  }

  static let luggages: [SignedSeed] = [
    SignedSeed(.luggage, "accepted-luggage", snapshot()),
    SignedSeed(
      .luggage, "accepted-empty-queue",
      snapshot {
        $0.incoming = IncomingLedger(taken: 7).snapshot
        $0.toGame = []
      }),
    SignedSeed(.luggage, "refused-another-layout", [2] + snapshot().dropFirst()),
    SignedSeed(.luggage, "refused-queue", snapshot { $0.toGame = [] }),
    SignedSeed(.luggage, "refused-body", snapshot { $0.telnet.state.bodyBytes = 9 }),
    SignedSeed(.luggage, "refused-bytes-left-over", snapshot() + [0]),
  ]
}

/// One slot, from zero.
private final class SeedMemory: SlotMemory, @unchecked Sendable {
  private var words = [UInt64](repeating: 0, count: SlotGeometry.wordCount(slots: 1))

  var slot: [UInt64] { Array(words[SlotGeometry.headerWords...]) }

  func load(at index: Int) -> UInt64 { words[index] }
  func store(_ word: UInt64, at index: Int) { words[index] = word }
  func store(_ block: Span<UInt64>, at index: Int) {
    for place in block.indices { words[index + place] = block[place] }
  }
}
