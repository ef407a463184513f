/// Whatever becomes of the disk, at each of the store's calls: what was answered holds, and the audit's chain is whole.
import FaultDisk
import Kit
import System
import Testing

@testable import Registry

@Suite struct StoreFaultTests {
  @Test(arguments: FaultDisk.Fault.allCases) func atEveryCall(fault: FaultDisk.Fault) throws {
    let calm = try Story(seed: 0) { $0.countCalls() }
    #expect(calm.answered.count == Story.groups * Story.callsOfGroup)
    try #require(calm.calls > 60)
    for call in 0..<calm.calls {
      let story = try Story(seed: UInt64(call)) { $0.plan(fault, at: call) }
      try story.verify("\(fault) at call \(call)")
    }
  }

  @Test func errorsThatStayForAWhile() throws {
    for call in stride(from: 0, to: 120, by: 2) {
      let story = try Story(seed: UInt64(call)) { $0.plan(.error, at: call, count: 40) }
      try story.verify("errors from call \(call) on")
    }
  }
}

/// Groups of calls; whatever fails is opened anew by the worker itself, and whatever dies by the next process.
private final class Story {
  static let groups = 6
  static let callsOfGroup = 5

  private let part: WorkerPart
  private(set) var answered: Set<String> = []
  private(set) var calls = 0

  init(seed: UInt64, _ plan: (FaultDisk) -> Void) throws {
    part = try WorkerPart(seed: seed)
    try part.start()
    plan(part.disk)
    for group in 0..<Self.groups {
      if part.disk.isDown { break }
      part.clock.advance(.seconds(40))
      part.worker?.recoverIfDue()
      let names = (0..<Self.callsOfGroup).map { "v\(group * Self.callsOfGroup + $0)" }
      let replies = part.serve(names.map { Put(name: $0, value: [UInt8](repeating: 7, count: 700)) })
      for (name, reply) in zip(names, replies) {
        guard let reply else { throw Unanswered(name: name) }
        if reply.isAnswered { answered.insert(name) }
      }
    }
    calls = part.disk.calls
    if part.disk.isDown { part.kill() } else { part.stop() }
    part.disk.restart()
  }

  struct Unanswered: Error { let name: String }

  func verify(_ what: String) throws {
    let values = try part.values()
    #expect(answered.isSubset(of: values.keys), "\(what)")
    // A group is there whole or not at all, and so are its rows of the audit.
    for group in 0..<Self.groups {
      let there = (0..<Self.callsOfGroup).count { values["v\(group * Self.callsOfGroup + $0)"] != nil }
      #expect(there == 0 || there == Self.callsOfGroup, "\(what)")
    }
    #expect(try part.auditRows().count == values.count, "\(what)")
  }
}
