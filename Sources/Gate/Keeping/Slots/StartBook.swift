/// Starts that died with a session: when one is taken up, or meets its first event, that stands in its slot, so that the next
/// start knows what the last one died with. Who is killed from outside dies with none, or not three times with the same.

struct StartBook<Memory: SlotMemory> {
  private let memory: Memory
  private let used: Range<Int>

  init(_ memory: Memory, _ used: Range<Int>) {
    self.memory = memory
    self.used = used
  }

  func begin() -> StartPlan {
    var dropped: [Int] = []
    var diedWithOne = false
    for index in used where isSomebodys(index) {
      var trials = trials(index)
      if trials.isUnderWay {
        diedWithOne = true
        trials.deaths = min(trials.deaths, Self.deathsLimit) + 1
      } else {
        trials.deaths = 0
      }
      trials.isUnderWay = false
      if trials.deaths >= Self.deathsLimit { dropped.append(index) }
      store(trials, index)
    }
    let before = min(memory.load(at: SlotGeometry.headerDeaths), UInt64(Self.deathsLimit))
    let deaths = diedWithOne ? before + 1 : 0
    memory.store(deaths, at: SlotGeometry.headerDeaths)
    if deaths > Self.deathsLimit { return StartPlan(dropped: used.filter(isSomebodys), isEmpty: true) }
    return StartPlan(dropped: dropped, isEmpty: false)
  }

  func note(_ index: Int, isUnderWay: Bool) {
    var trials = trials(index)
    trials.isUnderWay = isUnderWay
    store(trials, index)
  }

  func end() {
    memory.store(0, at: SlotGeometry.headerDeaths)
    for index in used where trials(index).deaths > 0 { store(SlotTrials(word: 0), index) }
  }

  private func isSomebodys(_ index: Int) -> Bool {
    SlotOwner(word: memory.load(at: SlotGeometry.slot(index) + SlotGeometry.owner)).state != .free
  }

  private func trials(_ index: Int) -> SlotTrials {
    SlotTrials(word: memory.load(at: SlotGeometry.slot(index) + SlotGeometry.trials))
  }

  private func store(_ trials: SlotTrials, _ index: Int) {
    memory.store(trials.word, at: SlotGeometry.slot(index) + SlotGeometry.trials)
  }

  /// So many starts in a row may die with a slot before it is dropped; if another one does, all are.
  static var deathsLimit: UInt32 { 3 }
}

/// What a start leaves out of what it was left.
package struct StartPlan: Equatable, Sendable {
  /// Slots that are not taken up: their legs are closed, then they are released.
  package let dropped: [Int]
  /// These are all of them, as one start after the other has died.
  package let isEmpty: Bool
}
