/// Work waiting by address, served round robin, so that one address cannot keep the others waiting
/// (docs/architecture-threads.md, "Threads").
package struct FairQueue<Address: Hashable & Sendable, Work: Sendable>: Sendable {
  private struct Lane: Sendable {
    var waiting: [Work] = []
    var running = 0
  }

  private var lanes: [Address: Lane] = [:]
  /// Addresses with work that may start, in turn.
  private var turn: [Address] = []
  private var waitingInAll = 0

  package let runningPerAddress: Int
  package let waitingPerAddress: Int
  package let waitingLimit: Int

  package init(runningPerAddress: Int, waitingPerAddress: Int, waitingLimit: Int) {
    self.runningPerAddress = runningPerAddress
    self.waitingPerAddress = waitingPerAddress
    self.waitingLimit = waitingLimit
  }

  /// False when the address, or all together, have as much waiting as they may.
  package mutating func enqueue(_ work: Work, from address: Address) -> Bool {
    var lane = lanes[address] ?? Lane()
    guard lane.waiting.count < waitingPerAddress, waitingInAll < waitingLimit else { return false }
    if lane.waiting.isEmpty, lane.running < runningPerAddress { turn.append(address) }
    lane.waiting.append(work)
    waitingInAll += 1
    lanes[address] = lane
    return true
  }

  /// The next work of the address whose turn it is; `finish` must follow.
  package mutating func dequeue() -> (Address, Work)? {
    guard !turn.isEmpty else { return nil }
    let address = turn.removeFirst()
    guard var lane = lanes[address], !lane.waiting.isEmpty else { return nil }
    let work = lane.waiting.removeFirst()
    waitingInAll -= 1
    lane.running += 1
    if !lane.waiting.isEmpty, lane.running < runningPerAddress { turn.append(address) }
    lanes[address] = lane
    return (address, work)
  }

  package mutating func finish(_ address: Address) {
    guard var lane = lanes[address] else { return }
    let wasFull = lane.running == runningPerAddress
    lane.running -= 1
    if wasFull, !lane.waiting.isEmpty { turn.append(address) }
    lanes[address] = lane.running == 0 && lane.waiting.isEmpty ? nil : lane
  }

  package var isEmpty: Bool { lanes.isEmpty }
  package var waitingCount: Int { waitingInAll }
}
