/// What was taken from an app and handled by the game, and when the app is told.
import Kit
import SessionWire
import Time
import Testing

@Suite struct IncomingLedgerTests {
  private let now = MonotonicTime(nanoseconds: 1_000_000_000)

  @Test func takenThenHandled() {
    var ledger = IncomingLedger()
    ledger.take(bytes: 10, size: 8, now: now)
    ledger.take(bytes: 300, size: 298, now: now)
    // Left out with a reason, behind the two.
    ledger.take(bytes: 0, size: 5, now: now)
    ledger.enqueue(bytes: 3)
    ledger.take(bytes: 1, size: 1, now: now)
    #expect(ledger.taken == 4 && ledger.handled == 0)
    ledger.accept(bytes: 9, now: now)
    #expect(ledger.handled == 0)
    ledger.accept(bytes: 1, now: now)
    #expect(ledger.handled == 1)
    ledger.accept(bytes: 299, now: now)
    #expect(ledger.handled == 1)
    ledger.accept(bytes: 1, now: now)
    #expect(ledger.handled == 3, "the one without bytes goes with the one before it")
    ledger.accept(bytes: 3, now: now)
    #expect(ledger.handled == 3)
    ledger.accept(bytes: 1, now: now)
    #expect(ledger.handled == 4 && ledger.unhandled == 0)
  }

  /// Nothing waits for the game: nothing to wait for.
  @Test func withoutBytes() {
    var ledger = IncomingLedger(taken: 7)
    ledger.take(bytes: 0, size: 10, now: now)
    #expect(ledger.taken == 8 && ledger.handled == 8)
    ledger.enqueue(bytes: 2)
    ledger.take(bytes: 0, size: 10, now: now)
    #expect(ledger.handled == 8)
    ledger.accept(bytes: 2, now: now)
    #expect(ledger.handled == 9)
  }

  @Test(arguments: 0..<40) func random(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var ledger = IncomingLedger()
    var model = IncomingModel()
    for _ in 0..<2000 {
      switch random.next(below: 5) {
      case 0..<2:
        let bytes = [0, 1, random.next(below: 10), random.next(below: 200), random.next(below: 70_000)][
          random.next(below: 5)]
        ledger.take(bytes: bytes, size: bytes, now: now)
        model.take(bytes)
      case 2:
        let bytes = random.next(below: 20)
        ledger.enqueue(bytes: bytes)
        model.enqueue(bytes)
      default:
        let bytes = random.next(below: 3) == 0 ? model.waiting : random.next(below: model.waiting + 1)
        ledger.accept(bytes: bytes, now: now)
        model.accept(bytes)
      }
      #expect(ledger.taken == model.taken && ledger.handled == model.handled)
    }
  }

  // MARK: Going on elsewhere

  /// Whatever the queue holds, another ledger that goes on with it counts the same.
  @Test(arguments: 0..<20) func restored(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var ledger = IncomingLedger(taken: 3)
    var waiting = 0
    for _ in 0..<200 {
      let bytes = Int(random.next() % 400) * Int(random.next() % 3)
      switch random.next() % 4 {
      case 0: ledger.enqueue(bytes: bytes)
      case 1: ledger.take(bytes: bytes, size: 1, now: now)
      default:
        let taken = min(waiting, bytes)
        ledger.accept(bytes: taken, now: now)
        waiting -= taken + bytes
      }
      waiting += bytes
      var other = IncomingLedger(restoring: ledger.snapshot)
      #expect(
        other.snapshot == ledger.snapshot && other.taken == ledger.taken && other.handled == ledger.handled)
      #expect(ledger.snapshot.waiting == waiting)
      if let torn = ledger.torn {
        #expect(other.torn?.bytes == torn.bytes && other.torn?.endsMessage == torn.endsMessage)
        other.accept(bytes: torn.bytes, now: now)
        #expect(other.torn == nil && other.handled > ledger.handled || !torn.endsMessage)
      } else {
        #expect(other.torn == nil)
      }
    }
  }

  /// The game has a part of something.
  @Test func torn() {
    var ledger = IncomingLedger()
    #expect(ledger.torn == nil)
    ledger.take(bytes: 5, size: 5, now: now)
    ledger.take(bytes: 7, size: 7, now: now)
    #expect(ledger.torn == nil)
    ledger.accept(bytes: 2, now: now)
    #expect(ledger.torn?.bytes == 3 && ledger.torn?.endsMessage == true)
    ledger.accept(bytes: 3, now: now)
    #expect(ledger.torn == nil && ledger.handled == 1)
    ledger.accept(bytes: 7, now: now)
    #expect(ledger.torn == nil && ledger.handled == 2)
    ledger.enqueue(bytes: 3)
    #expect(ledger.torn == nil)
    ledger.accept(bytes: 1, now: now)
    #expect(ledger.torn?.bytes == 2 && ledger.torn?.endsMessage == false)
    ledger.take(bytes: 4, size: 4, now: now)
    #expect(ledger.torn?.bytes == 6 && ledger.torn?.endsMessage == true)
  }

  // MARK: When the app is told

  @Test func nothingToTell() {
    var schedule = AckSchedule()
    #expect(!schedule.isDue(at: .never) && schedule.deadline == .never)
    // A long message that is under way.
    schedule.note(messages: 0, bytes: AckSchedule.byteLimit, now: now)
    #expect(!schedule.isDue(at: .never) && schedule.deadline == .never)
    schedule.note(messages: 1, bytes: 0, now: now)
    #expect(schedule.isDue(at: now))
  }

  @Test(arguments: [(31, 100, false), (32, 100, true), (1, 16_383, false), (1, 16_384, true)])
  func limits(messages: Int, bytes: Int, due: Bool) {
    var schedule = AckSchedule()
    schedule.note(messages: messages, bytes: bytes, now: now)
    #expect(schedule.isDue(at: now) == due)
    schedule.acknowledged()
    #expect(!schedule.isDue(at: .never) && schedule.deadline == .never)
  }

  /// From the first message on; later ones do not put it off.
  @Test func delay() {
    var schedule = AckSchedule()
    schedule.note(messages: 1, bytes: 1, now: now)
    schedule.note(messages: 1, bytes: 1, now: now + .seconds(4))
    #expect(schedule.deadline == now + .seconds(5))
    #expect(!schedule.isDue(at: now + .milliseconds(4999)) && schedule.isDue(at: now + .seconds(5)))
  }

  @Test func demanded() {
    var schedule = AckSchedule()
    schedule.note(messages: 1, bytes: 1, now: now)
    schedule.acknowledged()
    schedule.demand(now: now + .seconds(60))
    #expect(schedule.isDue(at: now + .seconds(60)) && !schedule.isDue(at: now + .seconds(59)))
    schedule.acknowledged()
    #expect(schedule.deadline == .never)
  }

  /// What is handled counts, not what is taken; and by its bytes to the game.
  @Test func scheduleOfALedger() {
    var ledger = IncomingLedger()
    for _ in 0..<40 { ledger.take(bytes: 100, size: 98, now: now) }
    #expect(ledger.schedule.deadline == .never)
    ledger.accept(bytes: 3199, now: now)
    #expect(!ledger.schedule.isDue(at: now) && ledger.schedule.deadline == now + .seconds(5))
    ledger.accept(bytes: 1, now: now)
    #expect(ledger.schedule.isDue(at: now))
    ledger.schedule.acknowledged()
    ledger.accept(bytes: 800, now: now)
    for _ in 0..<3 { ledger.take(bytes: 0, size: 5000, now: now) }
    #expect(!ledger.schedule.isDue(at: now))
    ledger.take(bytes: 0, size: 5000, now: now)
    #expect(ledger.schedule.isDue(at: now), "refused messages lie with the app too")
  }
}
