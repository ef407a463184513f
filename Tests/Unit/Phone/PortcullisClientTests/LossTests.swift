/// Nothing is lost, doubled or out of order, wherever a connection breaks.
import Kit
import Testing

import PortcullisTesting

@testable import PortcullisClient

@Suite struct LossTests {
  /// A conversation of which the order of events is always the same.
  private func converse(cuttingAt cuts: [Int]) -> ModelWorld {
    var world = ModelWorld()
    var cuts = cuts[...]
    func breaksNow(_ world: ModelWorld) -> Bool { cuts.first.map { world.deliveries >= $0 } ?? false }
    for turn in 0..<40 {
      if turn.isMultiple(of: 2) { world.type() }
      if turn.isMultiple(of: 3) { world.say() }
      for _ in 0..<2 {
        if breaksNow(world) {
          world.cut()
          cuts = cuts.dropFirst()
        }
        world.deliverToGate()
        if breaksNow(world) {
          world.cut()
          cuts = cuts.dropFirst()
        }
        world.deliverToApp()
      }
      world.pass(0.3)
    }
    world.settle()
    return world
  }

  private func expectWhole(_ world: ModelWorld) {
    #expect(world.shown == world.expected)
    // In the first session that the app knows of, everything typed; one whose greeting was lost never had any.
    #expect(world.heard == world.typed)
    #expect(world.machine.input.isEmpty)
    #expect(!world.events.contains { if case .inputDropped = $0 { true } else { false } })
  }

  @Test func withoutALoss() {
    let world = converse(cuttingAt: [])
    expectWhole(world)
    #expect(world.connections == 1 && world.typed.count == 20 && world.shown.count > 5)
  }

  @Test func oneLossAtEveryMessage() {
    let whole = converse(cuttingAt: [])
    for cut in 0..<whole.deliveries {
      let world = converse(cuttingAt: [cut])
      expectWhole(world)
      #expect(world.connections == 2)
    }
  }

  @Test func twoLossesAtEveryPairOfMessages() {
    let whole = converse(cuttingAt: [])
    for first in 0..<whole.deliveries {
      for second in first..<min(first + 30, whole.deliveries + 10) {
        expectWhole(converse(cuttingAt: [first, second]))
      }
    }
  }

  @Test(arguments: 0..<64) func anyLosses(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for _ in 0..<10 {
      var world = ModelWorld(seed: random.next())
      world.gate.acknowledgesEvery = 1 + Int(random.next() % 40)
      for _ in 0..<600 {
        switch random.next() % 20 {
        case 0...3: world.type()
        case 4...6: world.say()
        case 7...11: world.deliverToGate()
        case 12...16: world.deliverToApp()
        case 17: world.pass(Double(random.next() % 3000) / 1000)
        case 18: world.acknowledge()
        default: if random.next().isMultiple(of: 3) { world.cut() }
        }
      }
      world.settle()
      expectWhole(world)
    }
  }

  /// The app is slow, is killed, and started again: what it had not handled comes again, what it had typed comes once or
  /// not at all, and what comes is in order.
  @Test(arguments: 0..<32) func anyLossesAndStarts(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var world = ModelWorld(seed: seed)
    world.settle()
    world.handlesAtOnce = false
    var starts = 0
    for _ in 0..<1500 {
      switch random.next() % 24 {
      case 0...3: world.type()
      case 4...6: world.say()
      case 7...11: world.deliverToGate()
      case 12...16: world.deliverToApp()
      case 17...20: world.handle()
      case 21: world.pass(Double(random.next() % 3000) / 1000)
      case 22: world.acknowledge()
      default:
        if random.next().isMultiple(of: 3) { world.cut() }
        if random.next().isMultiple(of: 6) {
          // Never ahead of what was handled, and so nothing is missing behind it.
          #expect((world.remembered?.received ?? 0) <= world.machine.arrivals.handled)
          #expect((world.gate.attached?.acknowledged ?? 0) <= world.remembered?.received ?? 0)
          world.relaunch()
          starts += 1
        }
      }
    }
    world.settle()
    #expect(world.shown == world.expected)
    #expect(world.heard == world.typed && Set(world.heard).count == world.heard.count)
    #expect(world.gate.sessions.count == 1 && starts > 3)
  }

  /// What the gate could not keep is announced, and the count goes on behind it.
  @Test(arguments: 0..<32) func lossesWithEviction(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var world = ModelWorld(seed: seed)
    world.settle()
    for _ in 0..<50 {
      for _ in 0..<(random.next() % 5) {
        world.say()
        world.deliverToApp()
      }
      for _ in 0..<(random.next() % 5) { world.say() }
      world.cut()
      if random.next().isMultiple(of: 2) { world.gate.evict() }
      world.type()
      world.settle()
      #expect(world.machine.arrivals.received == world.gate.attached?.said.count)
    }
    #expect(world.heard == world.typed)
    #expect(world.gate.sessions.count == 1)
    #expect(world.events.contains { if case .gap = $0 { true } else { false } })
  }

  /// Input of a session that is gone never reaches another one.
  @Test func aSessionThatIsGoneTakesItsInputAlong() {
    var world = ModelWorld()
    world.settle()
    for _ in 0..<3 { world.type() }
    world.cut()
    world.gate.forgetIDs()
    world.type()
    world.settle()
    #expect(world.gate.sessions.count == 2 && world.heard.isEmpty)
    #expect(world.events.contains(.inputDropped(4)))
    world.type()
    world.settle()
    #expect(world.heard == [world.typed[4]])
  }

  /// What is typed into a dead connection for too long is not sent later, and its numbers are kept.
  @Test func oldInputIsEmptied() {
    var world = ModelWorld(inputPatience: 10)
    world.settle()
    for _ in 0..<3 { world.type() }
    world.deliverToGate()
    world.cut()
    world.pass(0)
    for _ in 0..<30 {
      world.pass(1)
      world.cut()
    }
    world.type()
    world.changeNetwork()
    world.settle()
    #expect(world.gate.sessions.count == 1)
    #expect(world.heard == [world.typed[0], world.typed[3]])
    #expect(world.gate.attached?.taken.count == 4)
    #expect(world.events.contains(.inputDropped(2)))
    #expect(world.machine.input.isEmpty)
  }
}
