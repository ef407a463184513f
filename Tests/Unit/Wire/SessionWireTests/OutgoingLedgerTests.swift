/// The messages that wait for an app's acknowledgement: examples, limits, and random operations against the model.
import Bytes
import Kit
import SessionWire
import TelnetWire
import Testing
import WebSocketWire

@Suite struct OutgoingLedgerTests {
  private func ledger(limit: Int = 1000) -> OutgoingLedger {
    OutgoingLedger(limit: limit, again: AgainCache(.usual, bufferBytes: limit))
  }

  private func append(_ text: String, to ledger: inout OutgoingLedger, _ type: MessageType = .binary) {
    ledger.append(type, Array(text.utf8).span)
  }

  /// Everything that the connection gets, as the payloads of its frames; a gap as its numbers.
  private func send(_ ledger: inout OutgoingLedger) -> [String] {
    var told: [String] = []
    while let item = Sending.next(&ledger) {
      switch item {
      case .gap(let messages, let next, _): told.append("gap \(messages) next \(next)")
      case .message(let message): told.append(String(decoding: message.payload, as: UTF8.self))
      }
    }
    return told
  }

  /// The same, unread.
  private func sendAll(_ ledger: inout OutgoingLedger) {
    while ledger.hasUnsent { ledger.markSent(bytes: ledger.unsentFrames.count) }
  }

  @Test func emptyOwnsNothing() {
    var ledger = ledger()
    #expect(ledger.allocatedBytes == 0 && ledger.bufferedBytes == 0)
    ledger.attach()
    append("hello", to: &ledger)
    #expect(ledger.bufferedBytes == 7 && ledger.allocatedBytes > 0)
    #expect(send(&ledger) == ["hello"])
    ledger.acknowledge(1)
    #expect(ledger.allocatedBytes == 0 && ledger.bufferedBytes == 0)
  }

  @Test func frames() {
    var ledger = ledger()
    ledger.attach()
    append("a", to: &ledger)
    append("{}", to: &ledger, .text)
    let frames = ledger.unsentFrames.span.array
    #expect(frames == [0x82, 1, 0x61, 0x81, 2, 0x7B, 0x7D])
    ledger.markSent(bytes: 4)
    #expect(!ledger.isBetweenFrames && ledger.hasUnsent)
    let rest = ledger.unsentFrames.span.array
    #expect(rest == [2, 0x7B, 0x7D])
    ledger.markSent(bytes: 3)
    #expect(ledger.isBetweenFrames && !ledger.hasUnsent)
  }

  /// What came over the lost connection is not sent twice, what did not is.
  @Test func resumes() {
    var ledger = ledger()
    ledger.attach()
    for text in ["1", "2", "3"] { append(text, to: &ledger) }
    #expect(send(&ledger) == ["1", "2", "3"])
    ledger.acknowledge(1)
    ledger.detach()
    append("4", to: &ledger)
    let attached = ledger.attach(after: 2)
    #expect(attached)
    #expect(send(&ledger) == ["3", "4"])
    // The upgrade acknowledges nothing: another attempt may name an older number.
    let again = ledger.attach(after: 1)
    #expect(again)
    #expect(send(&ledger) == ["2", "3", "4"])
    // But what was acknowledged is gone.
    let gone = ledger.attach(after: 0)
    #expect(gone)
    #expect(send(&ledger) == ["gap 1 next 2", "2", "3", "4"])
  }

  @Test func numbersThatWereNeverSent() {
    var ledger = ledger()
    ledger.attach()
    append("1", to: &ledger)
    let early = ledger.attach(after: 1)
    #expect(!early, "not sent yet")
    ledger.acknowledge(1)
    #expect(ledger.acknowledged == 0)
    #expect(send(&ledger) == ["1"])
    for number in [-1, 2, Int.max] {
      let attached = ledger.attach(after: number)
      #expect(!attached)
      ledger.acknowledge(number)
    }
    #expect(ledger.acknowledged == 0)
    ledger.acknowledge(1)
    #expect(ledger.acknowledged == 1)
    ledger.acknowledge(0)
    #expect(ledger.acknowledged == 1)
  }

  /// An app cannot acknowledge on its new connection what that has not brought it.
  @Test func acknowledgedPerConnection() {
    var ledger = ledger()
    ledger.attach()
    for text in ["1", "2", "3"] { append(text, to: &ledger) }
    #expect(send(&ledger).count == 3)
    let attached = ledger.attach(after: 1)
    #expect(attached)
    ledger.acknowledge(3)
    #expect(ledger.acknowledged == 0 && send(&ledger) == ["2", "3"])
  }

  @Test func oldestGoFirstWhileDetached() {
    var ledger = ledger(limit: 30)
    ledger.attach()
    append("sent", to: &ledger)
    #expect(send(&ledger) == ["sent"])
    ledger.detach()
    for number in 2...6 { append("text \(number)", to: &ledger) }
    #expect(ledger.bufferedBytes == 24)
    let attached = ledger.attach(after: 1)
    #expect(attached)
    #expect(send(&ledger) == ["gap 2 next 4", "text 4", "text 5", "text 6"])
    ledger.acknowledge(6)
    #expect(ledger.bufferedBytes == 0)
  }

  /// Who comes back behind a restart misses nothing, whatever came meanwhile; who does not has the limit again.
  @Test func allIsKeptForAWhile() {
    var ledger = ledger(limit: 30)
    ledger.attach()
    append("sent", to: &ledger)
    #expect(send(&ledger) == ["sent"])
    ledger.detach(keepsAll: true)
    for number in 2...6 { append("text \(number)", to: &ledger) }
    append("longer than all that may be kept", to: &ledger)
    let isFull = ledger.isFull
    #expect(isFull)
    let attached = ledger.attach(after: 1)
    #expect(attached)
    #expect(send(&ledger) == (2...6).map { "text \($0)" } + ["longer than all that may be kept"])
    ledger.detach(keepsAll: true)
    ledger.keepsAll = false
    append("text 8", to: &ledger)
    #expect(ledger.bufferedBytes <= 30)
    let again = ledger.attach(after: 1)
    #expect(again)
    #expect(send(&ledger) == ["gap 6 next 8", "text 8"])
  }

  /// At the limit, the others make room for it, and then it for the next; above it, it alone is missing.
  @Test(arguments: [(98, ["gap 2 next 3", "last"]), (99, ["first", "gap 1 next 3", "last"])])
  func largeWhileDetached(size: Int, expected: [String]) {
    var ledger = ledger(limit: 100)
    append("first", to: &ledger)
    // Its frame has a header of two bytes.
    append(String(repeating: "x", count: size), to: &ledger)
    append("last", to: &ledger)
    ledger.attach()
    #expect(send(&ledger) == expected)
  }

  /// Attached it is sent, whatever its size; whoever comes back for it later finds a gap.
  @Test func largeWhileAttached() {
    var ledger = ledger(limit: 100)
    ledger.attach()
    append("first", to: &ledger)
    append(String(repeating: "x", count: 100_000), to: &ledger)
    append("last", to: &ledger)
    #expect(ledger.isFull && ledger.room == 0)
    #expect(send(&ledger).map(\.count) == [5, 100_000, 4])
    ledger.detach()
    #expect(!ledger.isFull && ledger.allocatedBytes <= 100)
    let attached = ledger.attach(after: 0)
    #expect(attached)
    #expect(send(&ledger) == ["first", "gap 1 next 3", "last"])
    let behind = ledger.attach(after: 2)
    #expect(behind)
    #expect(send(&ledger) == ["last"])
    ledger.acknowledge(3)
    #expect(ledger.bufferedBytes == 0)
  }

  /// A message that was too large stands in front of many small ones: nothing is looked for again with each of them, which
  /// takes a quarter of an hour for so many.
  @Test(.timeLimit(.minutes(1))) func aHoleCostsWhatComesBehindItNothing() {
    let messages = 300_000
    var ledger = ledger(limit: 4 << 20)
    append(String(repeating: "x", count: 4 << 20), to: &ledger)
    for number in 0..<messages { append("\(number % 10)", to: &ledger) }
    for isWhole in [true, false] {
      let isKnown = ledger.attach(after: 0)
      #expect(isKnown)
      let gap = ledger.takeGap()
      #expect(gap == OutgoingLedger.Gap(messages: 1, next: 2))
      var payload: [UInt8] = []
      if isWhole {
        while ledger.copyUnsentMessage(into: &payload) != nil { ledger.markMessageSent() }
        #expect(payload.count == messages)
      } else {
        while ledger.hasUnsent { ledger.markSent(bytes: ledger.unsentFrames.count) }
      }
      #expect(!ledger.hasUnsent && ledger.highestSent == messages + 1)
    }
  }

  /// At the limit of a message and above it; a character stays whole, and what is none is cut anywhere.
  @Test func text() {
    func sizes(_ text: [UInt8], limit: Int) -> [Int] {
      var pieces = ledger(limit: limit)
      pieces.attach()
      pieces.append(text: text.span)
      return send(&pieces).map(\.utf8.count)
    }
    #expect(sizes([], limit: 1000) == [])
    #expect(sizes(Array(repeating: 0x61, count: 250), limit: 1000) == [250])
    #expect(sizes(Array(repeating: 0x61, count: 251), limit: 1000) == [250, 1])
    #expect(sizes(Array(repeating: 0x61, count: 40_000), limit: 1 << 20) == [16_380, 16_380, 7240])
    #expect(sizes(Array(String(repeating: "\u{1F600}", count: 100).utf8), limit: 1000) == [248, 152])
    var pieces = ledger(limit: 100)
    pieces.append(text: Array(repeating: 0x80, count: 100).span)
    #expect(pieces.last == 4)
  }

  /// Behind which one the state is said.
  @Test func whichGapIsTheLast() {
    var ledger = ledger(limit: 100)
    ledger.attach()
    let none = ledger.hasGapAhead
    #expect(!none)
    ledger.detach()
    for size in [10, 200, 10, 200, 200, 10] { append(String(repeating: "x", count: size), to: &ledger) }
    let attached = ledger.attach(after: 0)
    let later = ledger.takeGap()
    let isAhead = ledger.hasGapAhead
    #expect(attached && later == nil && isAhead)
    var gaps: [OutgoingLedger.Gap] = []
    var payload: [UInt8] = []
    while ledger.hasUnsent {
      if let gap = ledger.takeGap() { gaps.append(gap) }
      if ledger.copyUnsentMessage(into: &payload) != nil { ledger.markMessageSent() }
    }
    #expect(
      gaps == [
        OutgoingLedger.Gap(messages: 1, next: 3, isLast: false), OutgoingLedger.Gap(messages: 2, next: 6),
      ])
    let isOver = !ledger.hasGapAhead
    #expect(isOver)
    // Who has got what stands before it meets the second alone.
    let again = ledger.attach(after: 3)
    while ledger.copyUnsentMessage(into: &payload) != nil { ledger.markMessageSent() }
    let second = ledger.takeGap()
    #expect(again && second == OutgoingLedger.Gap(messages: 2, next: 6))
  }

  /// A flood of text does not push itself out.
  @Test func textWhileDetached() {
    var ledger = ledger(limit: 1000)
    ledger.append(text: Array(repeating: 0x61, count: 5000).span)
    #expect(ledger.bufferedBytes > 700)
    ledger.attach()
    #expect(send(&ledger).map { $0.prefix(3) } == ["gap", "aaa", "aaa", "aaa"])
  }

  @Test func whatIsSaidAgainCountsAsBuffered() {
    var ledger = ledger(limit: 1000)
    ledger.again.noteGMCP(package: Array("Room.Info".utf8).span, data: Array("{}".utf8).span)
    #expect(ledger.bufferedBytes == 75 && ledger.room == 925)
    append(String(repeating: "x", count: 500), to: &ledger)
    append(String(repeating: "y", count: 421), to: &ledger)
    #expect(ledger.bufferedBytes == 75 + 425)
    ledger.attach()
    #expect(send(&ledger).map { $0.prefix(5) } == ["gap 1", "yyyyy"])
  }

  @Test func whatIsSaidAgainTakesRoomOfMessages() {
    var ledger = ledger(limit: 400)
    for _ in 0..<10 { append(String(repeating: "x", count: 38), to: &ledger) }
    #expect(ledger.bufferedBytes == 400)
    ledger.note(.gmcp(package: Array("Room.Info".utf8), data: nil))
    #expect(ledger.bufferedBytes == 73 + 320)
    ledger.attach()
    append("more than fits, as nothing is dropped now", to: &ledger)
    ledger.note(.gmcp(package: Array("Char".utf8), data: nil))
    #expect(ledger.bufferedBytes == 73 + 320 + 43)
  }

  @Test func evictionFreesAndStops() {
    var ledger = ledger()
    append("1", to: &ledger)
    append("22", to: &ledger)
    #expect(ledger.evictOldest() == 3)
    #expect(ledger.evictOldest() == 4)
    #expect(ledger.evictOldest() == 0)
    ledger.attach()
    append("3", to: &ledger)
    #expect(ledger.evictOldest() == 0, "attached, nothing is lost")
    #expect(send(&ledger) == ["gap 2 next 3", "3"])
  }

  /// Acknowledged every so often, memory stays near what is held, however long it goes on.
  @Test func memoryStaysSmall() {
    var ledger = ledger(limit: 65_536)
    ledger.attach()
    let text = String(repeating: "t", count: 64)
    for number in 1...10_000 {
      append(text, to: &ledger)
      sendAll(&ledger)
      if number % 32 == 0 { ledger.acknowledge(number - 3) }
      #expect(ledger.allocatedBytes <= 4096)
    }
    // A burst grows it, and silence gives that back.
    for _ in 0..<900 { append(text, to: &ledger) }
    #expect(ledger.allocatedBytes >= 900 * 66 && ledger.allocatedBytes <= 65_536)
    sendAll(&ledger)
    ledger.acknowledge(10_890)
    #expect(ledger.allocatedBytes <= 4096)
    ledger.acknowledge(10_900)
    #expect(ledger.allocatedBytes == 0)
  }

  /// What is asked for is given back in memory, and not only in messages; no more goes than what shares a page with it, at
  /// either end.
  @Test(arguments: [0, 50, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 40_000, 65_535, 65_536])
  func memoryIsGivenBack(bytes: Int) {
    var ledger = ledger(limit: 65_536)
    while ledger.bufferedBytes < 65_400 { append(String(repeating: "t", count: 64), to: &ledger) }
    ledger.evict(downTo: bytes)
    #expect(ledger.allocatedBytes <= bytes)
    #expect(ledger.bufferedBytes > bytes - 2 * 4096 - 66)
    #expect(ledger.bufferedBytes > 0 || ledger.allocatedBytes == 0)
  }

  /// Sessions give each other what they give back: beyond a few lines all have pages of one size.
  @Test func memoryComesInPages() {
    var ledger = ledger(limit: 65_536)
    ledger.attach()
    while ledger.bufferedBytes < 60_000 {
      append(String(repeating: "t", count: 64), to: &ledger)
      #expect(ledger.allocatedBytes <= 4096 || ledger.allocatedBytes.isMultiple(of: 4096))
    }
    ledger.detach()
    while ledger.bufferedBytes > 4048 {
      ledger.evict(downTo: ledger.allocatedBytes - 1)
      #expect(ledger.allocatedBytes <= 4096 || ledger.allocatedBytes.isMultiple(of: 4096))
    }
  }

  /// Far more pages than `SESSION_BUFFER` has as it comes, read from one end while the other is written.
  @Test func manyPages() {
    var ledger = ledger(limit: 1 << 20)
    ledger.attach()
    var received: [String] = []
    for number in 1...20_000 {
      append("\(number) " + String(repeating: "m", count: number % 200), to: &ledger)
      if number % 5000 == 0 {
        received += send(&ledger)
        ledger.acknowledge(number - 1000)
      }
    }
    let numbers = received.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    #expect(numbers == Array(1...20_000))
    #expect(ledger.allocatedBytes <= ledger.bufferedBytes + 2 * 4096 + ledger.bufferedBytes / 80)
    ledger.detach()
    let attached = ledger.attach(after: 19_000)
    #expect(attached)
    #expect(send(&ledger).count == 1000)
  }

  @Test(arguments: 0..<60) func random(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let limit = [64, 300, 2000][Int(seed % 3)]
    var ledger = ledger(limit: limit)
    var model = OutgoingModel(limit: limit)
    // And has more than the limit until there is another message.
    var wasKept = false
    for _ in 0..<1500 {
      switch random.next(below: 13) {
      case 0..<4:
        let type: MessageType = random.next(below: 2) == 0 ? .text : .binary
        let size = random.next(below: 9) == 0 ? random.next(below: limit * 2) : random.next(below: 40)
        let payload = (0..<size).map { _ in UInt8(random.next(below: 256)) }
        ledger.append(type, payload.span)
        model.append(type, payload)
      case 4..<7:
        let number = model.acknowledged + random.next(below: 6) - 1
        ledger.acknowledge(number)
        model.acknowledge(number)
      case 7..<9:
        // Some of what is due, by one of the three ways.
        for _ in 0..<random.next(below: 4) {
          let item =
            random.next(below: 2) == 0 ? Sending.next(&ledger) : Sending.nextInPieces(&ledger, &random)
          let expected = model.next()
          #expect(item == expected)
        }
      case 9:
        let number = max(0, model.highestSent - random.next(below: 8) + 1)
        let attached = ledger.attach(after: number)
        let expected = model.attach(after: number)
        #expect(attached == expected)
      case 10:
        let keepsAll = random.next(below: 3) == 0
        ledger.detach(keepsAll: keepsAll)
        model.detach(keepsAll: keepsAll)
      case 11:
        ledger.keepsAll = false
        model.keepsAll = false
      default:
        let freed = ledger.evictOldest()
        let expected = model.evictOldest()
        #expect((freed > 0) == expected)
      }
      #expect(
        ledger.last == model.last && ledger.acknowledged == model.acknowledged
          && ledger.highestSent == model.highestSent && ledger.bufferedBytes == model.bytes
          && ledger.isAttached == model.isAttached)
      wasKept = ledger.keepsAll || wasKept && !ledger.isAttached && ledger.bufferedBytes > limit
      if !ledger.isAttached, !wasKept { #expect(ledger.bufferedBytes <= limit) }
      #expect(ledger.bufferedBytes > 0 || ledger.allocatedBytes == 0)
    }
  }
}

/// What a connection would do with a ledger, one item at a time.
enum Sending {
  /// As whole messages.
  static func next(_ ledger: inout OutgoingLedger) -> OutgoingModel.Item? {
    if let gap = ledger.takeGap() {
      return .gap(messages: gap.messages ?? -1, next: gap.next, isLast: gap.isLast)
    }
    var payload: [UInt8] = []
    guard let type = ledger.copyUnsentMessage(into: &payload) else { return nil }
    let number = ledger.cursorNumber
    ledger.markMessageSent()
    return .message(OutgoingModel.Message(number: number, type: type, payload: payload))
  }

  /// As bytes of its frame, of which a part is sent at a time.
  static func nextInPieces(_ ledger: inout OutgoingLedger, _ random: inout SplitMix) -> OutgoingModel.Item? {
    if let gap = ledger.takeGap() {
      return .gap(messages: gap.messages ?? -1, next: gap.next, isLast: gap.isLast)
    }
    let number = ledger.cursorNumber
    var frame: [UInt8] = []
    var total = Int.max
    while frame.count < total {
      let available = ledger.unsentFrames.count
      if available == 0 { return nil }
      // Never more than what is known to be of this frame: its first byte, its length, then the rest.
      let known = total == .max ? 1 : total - frame.count
      let count = min(available, 1 + random.next(below: known))
      frame += ledger.unsentFrames.span.extracting(0..<count).array
      ledger.markSent(bytes: count)
      if total == .max { total = size(frame) ?? .max }
    }
    let header = frame[1] < 126 ? 2 : frame[1] == 126 ? 4 : 10
    return .message(
      OutgoingModel.Message(
        number: number, type: frame[0] == 0x81 ? .text : .binary, payload: Array(frame[header...])))
  }

  private static func size(_ frame: [UInt8]) -> Int? {
    guard frame.count >= 2 else { return nil }
    switch frame[1] {
    case 126: return frame.count < 4 ? nil : 4 + Int(frame[2]) << 8 + Int(frame[3])
    case 127: return frame.count < 10 ? nil : 10 + frame[2..<10].reduce(0) { $0 << 8 | Int($1) }
    default: return 2 + Int(frame[1])
    }
  }
}
