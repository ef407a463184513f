import Bytes
import Kit
import Time
import Testing

@testable import KeyStore

/// When a snapshot is written (docs/key-store.md, "Snapshot": max(1 s, 20 × the last duration) after the first change,
/// never starved; above 16 MiB also only once the journal exceeds a tenth of it, or after 10 minutes).
@Suite struct ScheduleTests {
  private func at(_ milliseconds: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: UInt64(milliseconds) * 1_000_000)
  }

  @Test(arguments: [(0, 1000), (49, 1000), (50, 1000), (51, 1020), (2000, 40_000)])
  func wait(lastDuration: Int, wait: Int) {
    var schedule = SnapshotSchedule(snapshotBytes: 0)
    schedule.finished(at: at(lastDuration), bytes: 1000, duration: .milliseconds(lastDuration))
    #expect(schedule.due(journalBytes: 1_000_000) == nil)
    #expect(schedule.noteChange { at(5000) })
    #expect(!schedule.noteChange { at(5900) })
    #expect(schedule.due(journalBytes: 0) == at(5000 + wait))
  }

  @Test(arguments: [
    (16 << 20, 0, 1000), (16 << 20 + 1, 0, 600_000), (20 << 20, 2 << 20, 600_000),
    (20 << 20, 2 << 20 + 1, 1000),
  ])
  func large(snapshot: Int, journal: Int, wait: Int) {
    var schedule = SnapshotSchedule(snapshotBytes: Int64(snapshot))
    _ = schedule.noteChange { at(0) }
    #expect(schedule.due(journalBytes: Int64(journal)) == at(wait))
  }

  @Test func failureBacksOffAndKeepsTheChange() {
    var schedule = SnapshotSchedule(snapshotBytes: 0)
    _ = schedule.noteChange { at(0) }
    schedule.began()
    #expect(!schedule.isClean)
    _ = schedule.noteChange { at(1500) }
    #expect(schedule.failed(at: at(2000)) == .seconds(1))
    #expect(schedule.due(journalBytes: 0) == at(3000))
    schedule.began()
    #expect(schedule.failed(at: at(4000)) == .seconds(2))
    #expect(schedule.due(journalBytes: 0) == at(6000))
    schedule.began()
    _ = schedule.noteChange { at(6500) }
    schedule.finished(at: at(7000), bytes: 10, duration: .zero)
    #expect(schedule.due(journalBytes: 0) == at(8000))
  }

  /// Under steady changes writing takes 1/21 of the time, however long it takes.
  @Test func restCountsFromTheEnd() {
    var schedule = SnapshotSchedule(snapshotBytes: 0)
    var now = 0
    _ = schedule.noteChange { at(now) }
    for _ in 0..<3 {
      schedule.began()
      _ = schedule.noteChange { at(now) }
      now += 400
      schedule.finished(at: at(now), bytes: 10, duration: .milliseconds(400))
      #expect(!schedule.noteChange { at(now + 10) })
      now += 8000
      #expect(schedule.due(journalBytes: 0) == at(now))
    }
  }

  /// Steady traffic starves nothing: a registration every 100 ms, for two minutes.
  @Test func steadyTrafficStillGetsItsSnapshot() throws {
    let bench = Bench()
    let store = try bench.open()
    var longestJournal: Int64 = 0
    for key in 0..<1200 {
      #expect(store.register(newKey(key)) { _ in } == .accepted(isNew: true))
      store.commitAll()
      _ = store.snapshotStep()
      longestJournal = max(longestJournal, store.statistics.journalBytes)
      bench.clock.advance(.milliseconds(100))
    }
    let statistics = store.statistics
    #expect((100...120).contains(statistics.snapshots))
    // Eleven registrations of some 180 bytes fit between two snapshots, and half as many beside one.
    #expect(longestJournal < 4000)
    #expect(bench.files.names.filter { $0.contains(".journal.") }.count <= 2)
    #expect(store.close())
    #expect(bench.files.names == [storePath])
    #expect(try bench.open().statistics.keys == 1200)
  }

  @Test func nothingHappensWhileNothingChanges() throws {
    let bench = Bench()
    let store = try bench.open()
    _ = store.register(newKey(1)) { _ in }
    store.commitAll()
    let due = try #require(store.snapshotStep())
    bench.clock.advance(due - bench.clock.monotonic())
    #expect(store.snapshotStep() == nil)
    let calls = bench.files.calls
    for _ in 0..<10 {
      bench.clock.advance(.seconds(3600))
      #expect(store.snapshotStep() == nil)
      _ = store.commitOnce()
    }
    #expect(bench.files.calls == calls)
    #expect(store.close())
  }

  /// A disk without room for snapshots for days: the journal goes on, and files do not pile up.
  @Test func failingSnapshotsLeaveNothingBehind() throws {
    let bench = Bench()
    let store = try bench.open()
    for key in 0..<50 {
      _ = store.register(newKey(key)) { _ in }
      store.commitAll()
      bench.clock.advance(.seconds(60))
      // The rename is among the next calls; all kinds of them fail in turn.
      bench.files.plan([key % 9: .noSpace, 10: .noSpace])
      _ = store.snapshotStep()
      bench.files.plan([:])
      #expect(bench.files.names.filter { $0.contains(".journal.") }.count <= 4)
    }
    #expect(store.close())
    #expect(bench.files.names == [storePath])
    #expect(try bench.open().statistics.keys == 50)
  }
}
