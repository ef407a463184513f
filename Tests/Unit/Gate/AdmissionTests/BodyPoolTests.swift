import Addresses
import Bytes
import DeviceWire
import Kit
import Synchronization
import Time
import Testing

@testable import Admission

/// Memory for bodies: who is charged, who makes room, and what is kept for whom. Steps of 4 KiB; 64 of them in all, 48 for
/// anybody, and 12 for an owner, unless a test says otherwise.
@Suite struct BodyPoolTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)
  private static let step = BodyPool.stepBytes

  private final class Drops: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  private struct Scene {
    let pool: BodyPool
    let drops = Drops()

    init(steps: Int = 64, share: Int = 12) {
      pool = BodyPool(limit: steps * BodyPoolTests.step, share: share * BodyPoolTests.step)
    }

    func open(_ name: String, _ owner: BodyOwner, _ part: BodyPart = .anybody) -> BodyCharge {
      let drops = drops
      return pool.open(part, owner) { drops.add(name) }
    }

    var steps: Int { pool.heldBytes / BodyPoolTests.step }
  }

  private static func address(_ number: UInt32) -> BodyOwner {
    .address(IPAddress(v4: 0x7F00_0000 | number))
  }

  /// Holds `steps` of them at `seconds` behind the start.
  private static func hold(_ charge: BodyCharge, _ steps: Int, at seconds: Double = 0) -> Bool {
    charge.hold(steps * step, now: start + .seconds(seconds))
  }

  @Test func stepsBelowAtAndAbove() {
    let scene = Scene()
    let body = scene.open("a", Self.address(1))
    for (bytes, steps) in [(0, 0), (1, 1), (4095, 1), (4096, 1), (4097, 2), (8192, 2), (8193, 3)] {
      #expect(body.hold(bytes, now: Self.start))
      #expect(scene.steps == steps)
    }
  }

  @Test func whatIsHeldComesBackWithItsRequest() {
    let scene = Scene()
    do {
      let body = scene.open("a", Self.address(1))
      #expect(Self.hold(body, 3) && body.complete() && scene.steps == 3)
    }
    #expect(scene.steps == 0)
    // So it does where the body was dropped before.
    do {
      let (stalled, other) = (scene.open("a", Self.address(1)), scene.open("b", Self.address(1)))
      #expect(Self.hold(stalled, 10) && Self.hold(other, 10, at: 2) && scene.drops.all == ["a"])
      #expect(!Self.hold(stalled, 11, at: 3) && !stalled.complete() && scene.steps == 10)
    }
    #expect(scene.steps == 0)
  }

  /// Attack: bodies that are announced, or have begun, and never come. However many there are, a step is found.
  @Test func theOneOfTheLargestOwnerThatIsStalledForLongestMakesRoom() {
    let scene = Scene()
    var bodies: [BodyCharge] = []
    // Six addresses with 8, 7, … 3 bodies of one step, and 15 with one.
    var count = 0
    for number in 0..<21 {
      for index in 0..<max(1, 8 - number) where count < 48 {
        let body = scene.open("\(number)/\(index)", Self.address(UInt32(number)))
        #expect(Self.hold(body, 1, at: Double(index) / 100))
        bodies.append(body)
        count += 1
      }
    }
    #expect(scene.steps == 48 && scene.drops.all.isEmpty)
    let honest = scene.open("honest", Self.address(100))
    for steps in 1...3 { #expect(Self.hold(honest, steps, at: 5)) }
    // Of 0 the first, then there are two with seven bodies each, of which the one that waits longer.
    #expect(scene.drops.all == ["0/0", "1/0", "0/1"])
    #expect(scene.steps == 48)
  }

  /// One that grows is not dropped for one that stands still, though its address holds more.
  @Test func whoeverStandsStillGoesFirst() {
    let scene = Scene()
    let (stalled, growing) = (scene.open("stalled", Self.address(1)), scene.open("growing", Self.address(2)))
    #expect(Self.hold(stalled, 4) && Self.hold(growing, 7))
    let rest = (0..<36).map { scene.open("rest", Self.address(100 + $0)) }
    for body in rest { #expect(Self.hold(body, 1, at: 1.9)) }
    #expect(Self.hold(growing, 8, at: 1.9) && scene.steps == 48 && scene.drops.all.isEmpty)
    let honest = scene.open("honest", Self.address(99))
    #expect(Self.hold(honest, 1, at: 2) && scene.drops.all == ["stalled"])
    // Where all grow, the largest does.
    #expect(Self.hold(honest, 5, at: 2) && scene.drops.all == ["stalled", "growing"])
  }

  /// A whole body is being worked on: it is not dropped, and where nothing else holds anything there is no room.
  @Test func whatIsWholeStays() {
    let scene = Scene()
    let bodies = (0..<48).map { scene.open("whole", Self.address($0)) }
    for body in bodies { #expect(Self.hold(body, 1) && body.complete()) }
    let late = scene.open("late", Self.address(99))
    #expect(!Self.hold(late, 1, at: 60) && scene.drops.all.isEmpty && scene.steps == 48)
  }

  @Test func anAddressHasAShare() {
    let scene = Scene()
    let (first, second) = (scene.open("first", Self.address(1)), scene.open("second", Self.address(1)))
    #expect(Self.hold(first, 6) && Self.hold(second, 6, at: 0.1) && scene.drops.all.isEmpty)
    // Its own make room, though there is some.
    #expect(Self.hold(second, 7, at: 0.2) && scene.drops.all == ["first"])
    // One body alone may be larger.
    #expect(Self.hold(second, 30, at: 0.3) && scene.steps == 30)
    let other = scene.open("other", Self.address(2))
    #expect(Self.hold(other, 12, at: 0.4) && scene.drops.all == ["first"])
  }

  @Test func oneBodyAloneMayBeLargerThanAnybodysPart() {
    let scene = Scene()
    let body = scene.open("large", Self.address(1))
    #expect(Self.hold(body, 64) && scene.steps == 64)
    // Those who are known have their part all the same.
    let vote = scene.open("vote", Self.address(2), .known)
    #expect(body.complete() && Self.hold(vote, 1, at: 0.1) && scene.steps == 65)
  }

  // MARK: Those who are known

  /// Attack: every address there is fills the pool with bodies that are whole, or come fast. A vote passes.
  @Test(arguments: [8, 48]) func aQuarterIsKept(addresses: Int) throws {
    let scene = Scene()
    var bodies: [BodyCharge] = []
    for number in 0..<48 {
      let body = scene.open("flood", Self.address(UInt32(number % addresses)))
      #expect(Self.hold(body, 1) && body.complete())
      bodies.append(body)
    }
    let stranger = scene.open("stranger", Self.address(200))
    #expect(!Self.hold(stranger, 1))
    let device = try #require(DeviceID("6f1c24e8-3d57-4b0a-9a51-0c1d2e3f4a5b"))
    let known = scene.open("known", .device(device), .known)
    #expect(Self.hold(known, 12) && scene.drops.all.isEmpty && scene.steps == 60)
    let vote = scene.open("vote", Self.address(0), .known)
    #expect(Self.hold(vote, 4) && scene.drops.all.isEmpty && scene.steps == 64)
    // Beyond it, they make room among themselves and the others.
    let last = scene.open("last", Self.address(1), .known)
    #expect(Self.hold(last, 1, at: 5) && scene.drops.all == ["known"])
  }

  /// While anybody's part is not used, it is theirs too. Nobody else gets it from them.
  @Test func theKnownMayHaveMore() throws {
    let scene = Scene(share: 64)
    let device = try #require(DeviceID("6f1c24e8-3d57-4b0a-9a51-0c1d2e3f4a5b"))
    let known = scene.open("known", .device(device), .known)
    #expect(Self.hold(known, 60))
    let body = scene.open("body", Self.address(1))
    #expect(Self.hold(body, 4, at: 0.1) && scene.steps == 64)
    let other = scene.open("other", Self.address(2))
    #expect(Self.hold(other, 1, at: 0.2) && scene.drops.all == ["body"])
  }
}
