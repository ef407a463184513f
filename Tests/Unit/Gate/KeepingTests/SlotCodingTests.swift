/// What a slot's words come to: values there and back, each field broken, and layouts of other programs.
import Addresses
import Bytes
import Kit
import Time
import TelnetWire
import Testing

@testable import Keeping

@Suite struct SlotCodingTests {
  @Test(arguments: 0..<20) func thereAndBack(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<50 {
      let description = KeptDescription.random(using: &random)
      let bytes = description.coded()
      #expect(try KeptDescription(coded: bytes) == description)
      // Every shorter one is none, and a longer one neither.
      for count in 0..<bytes.count {
        #expect(throws: KeptError.self) { try KeptDescription(coded: Array(bytes[..<count])) }
      }
      #expect(throws: KeptError.trailingBytes) { try KeptDescription(coded: bytes + [0]) }
      let progress = KeptProgress.random(using: &random)
      #expect(try KeptProgress(words: progress.words) == progress)
    }
  }

  private static func usual() -> KeptDescription {
    KeptDescription(
      ids: [Bytes32(words: 1, 2, 3, 4)], credential: .none, number: 7,
      startedAt: MonotonicTime(nanoseconds: 8),
      changedAt: MonotonicTime(nanoseconds: 9),
      source: Endpoint(address: IPAddress(v4: 0x7F00_0001), port: 10),
      leg: 11)
  }

  /// The largest of everything is no longer than there is room for, and what an app says again goes first.
  @Test(arguments: [nil, KeptCredential.Terms(authority: .max, end: UnixTime(milliseconds: .max))])
  func room(terms: KeptCredential.Terms?) throws {
    var client = ClientDescription()
    client.name = ClientText([UInt8](repeating: 0x61, count: 40))
    client.version = ClientText([UInt8](repeating: 0x62, count: 40))
    client.terminal = ClientText([UInt8](repeating: 0x63, count: 40))
    client.size = TerminalSize(columns: 1, rows: 2)
    client.gmcp = [[UInt8](repeating: 0x64, count: 300)]
    var description = Self.usual()
    description.client = client
    let withoutPackages = try KeptDescription(coded: description.coded())
    #expect(withoutPackages.client?.gmcp == nil && withoutPackages.client?.terminal == client.terminal)

    description.ids = [Bytes32(words: 1, 2, 3, 4), Bytes32(words: 5, 6, 7, 8)]
    description.credential = .certificate(
      subject: String(repeating: "я", count: 50), publicKey: Bytes32(words: 1, 1, 1, 1), terms: terms)
    description.source = Endpoint(address: .loopbackV6, port: 1)
    description.owed = [UInt8](repeating: 1, count: KeptDescription.owedLimit)
    description.charset = [UInt8](repeating: 0x78, count: KeptDescription.charsetLimit)
    description.earlySize = TerminalSize(columns: 3, rows: 4)
    let bytes = description.coded()
    #expect(bytes.count <= KeptDescription.codedLimit)
    let least = try KeptDescription(coded: bytes)
    #expect(least.owed == description.owed && least.ids == description.ids)
    #expect(least.client?.name == nil && least.client?.size == client.size)
    let subject = String(repeating: "я", count: terms == nil ? 32 : 24)
    #expect(
      least.credential
        == .certificate(subject: subject, publicKey: Bytes32(words: 1, 1, 1, 1), terms: terms))
  }

  /// Where a field begins in the description that `usual` gives, and a byte there that cannot be.
  @Test(
    arguments: [
      (0, 0x80, KeptError.unfit(.flags)),
      (0, 0x10, .unfit(.owed)),
      (37, 17, .unfit(.source)),
      (37, 5, .unfit(.source)),
      (44, 0, .unfit(.ids)),
      (44, 3, .unfit(.ids)),
      (77, 6, .unfit(.credential)),
      (77, 2, .endsEarly),
      (77, 5, .endsEarly),
      (78, 21, .unfit(.charset)),
      (79, 97, .unfit(.owed)),
      (79, 1, .endsEarly),
    ] as [(Int, UInt8, KeptError)])
  func brokenDescription(place: Int, byte: UInt8, error: KeptError) throws {
    var bytes = Self.usual().coded()
    try #require(bytes.count == 80)
    bytes[place] = byte
    #expect(throws: error) { try KeptDescription(coded: bytes) }
  }

  @Test(
    arguments: [
      [0x80], [0x08, 0], [0x08, 41], [0x08, 1, 0x1F], [0x08, 1, 0x7F], [0x40, 1, 0],
      [0x40, 1, 0, 5, 0, 0x61],
      [0x40, 1, 0, 1, 0, 0xFF], [0x04, 1, 0, 2], [0x40, 0xFF, 0xFF],
      [0x40, 1, 0, 0xFF, 1] + [UInt8](repeating: 0x61, count: 511),
    ] as [[UInt8]])
  func brokenClient(bytes: [UInt8]) {
    var fields = FieldReader(bytes)
    #expect(throws: KeptError.self) { try ClientDescription(from: &fields) }
  }

  @Test(
    arguments: [
      (0, 1 << 53 + 1, KeptError.unfit(.counts)),
      (0, 6, .unfit(.counts)),  // handled above taken
      (1, .max, .unfit(.counts)),
      (2, 3, .unfit(.counts)),  // the last below what was sent
      (3, 2, .unfit(.counts)),  // sent below acknowledged
      (4, 1 << 63, .unfit(.counts)),
      (7, 8, .unfit(.place)),
      (7, 1 << 13, .unfit(.flags)),
      (7, 5 << 16, .unfit(.subnegotiation)),
      (7, 255 << 24, .unfit(.subnegotiation)),
      (7, 65_539 << 32, .unfit(.subnegotiation)),
      (8, 1 << 11, .unfit(.options)),
      (8, 1 << 27, .unfit(.options)),
      (8, 1 << 32, .unfit(.options)),
      (9, 4 << 56, .unfit(.held)),
      (9, 1 << 56 | 0x100, .unfit(.held)),
      (9, 1, .unfit(.held)),
    ] as [(Int, UInt64, KeptError)])
  func brokenProgress(index: Int, word: UInt64, error: KeptError) {
    var progress = KeptProgress()
    (progress.taken, progress.handled, progress.last, progress.highestSent, progress.acknowledged) = (
      5, 4, 5, 4, 3
    )
    var words = progress.words
    words[index] = word
    #expect(throws: error) { try KeptProgress(words: words) }
  }

  // MARK: Other programs

  /// A slot whose newest copy says that it has another layout, sealed as that program would have.
  private func slot(layout: UInt8, _ session: KeptSession) -> [UInt64] {
    let memory = NotedMemory([UInt64](repeating: 0, count: SlotGeometry.wordCount(slots: 1)))
    let writer = SlotWriter(claiming: 0, of: memory, session.description, session.progress)
    writer.publish()
    var words = Array(memory.words[SlotGeometry.headerWords...])
    let hot = SlotGeometry.hot(1)
    words[hot + SlotGeometry.naming] = words[hot + SlotGeometry.naming] & ~0xFF | UInt64(layout)
    let seed = SlotOwner(word: words[SlotGeometry.owner]).seed(0)
    words[hot] = SlotImage.hotChecksum(words.span.extracting(hot..<hot + SlotGeometry.hotWords), seed: seed)
    return words
  }

  @Test func layouts() {
    var random = SplitMix(seed: 5)
    let session = KeptSession(
      description: .random(using: &random), progress: .random(using: &random), sequence: 1)
    let both = [SlotLayout.first, .swapped]
    // A program of the second layout goes on with what the first has left.
    #expect(SlotContent(slot(layout: 1, session), index: 0, knowing: both) == .kept(session))
    var swapped = session
    swapped.progress.taken = session.progress.handled
    swapped.progress.handled = session.progress.taken
    #expect(SlotContent(slot(layout: 2, swapped), index: 0, knowing: both) == .kept(session))
    // The older program says that it does not know what the newer one has left.
    #expect(SlotContent(slot(layout: 2, session), index: 0) == .unreadable(.unknownLayout(2)))
    #expect(SlotContent(slot(layout: 0, session), index: 0) == .unreadable(.unknownLayout(0)))
  }

  @Test func states() {
    var words = slot(
      layout: 1, KeptSession(description: Self.usual(), progress: KeptProgress(), sequence: 1))
    words[0] |= 0xFF
    #expect(SlotContent(words, index: 0) == .unreadable(.unfit(.state)))
    words[0] = words[0] & ~0xFF | 1
    // A mark that is ahead by two belongs to no copy.
    words[SlotGeometry.reads] = 2
    #expect(SlotContent(words, index: 0) == .unreadable(.unfit(.counts)))
    // Another slot's words are none.
    words[SlotGeometry.reads] = 0
    #expect(SlotContent(words, index: 1) == .unreadable(.noCopyChecks))
  }
}
