import Bytes
import Kit
import System
import Testing
import Time

@testable import KeyStore

/// A disk that takes a call and does not return: nothing new begins, and it is said once.
@Suite struct HangingDiskTests {
  @Test func isNoticedAfterThreeSecondsAndForgottenWithTheAnswer() throws {
    let bench = Bench()
    let store = try bench.open()
    let before = bench.events.all.count
    let results = Recorder<CommitResult>()
    #expect(store.register(newKey(1)) { results.append($0) } == .accepted(isNew: true))
    bench.files.duringNextSync {
      bench.clock.advance(.milliseconds(2999))
      store.noteHang()
      #expect(store.isAccepting)
      bench.clock.advance(.milliseconds(1))
      store.noteHang()
      bench.clock.advance(.seconds(1))
      store.noteHang()
      #expect(!store.isAccepting)
      #expect(store.register(newKey(2)) { _ in } == .unavailable)
      #expect(store.advance(1, to: 1) == .unavailable)
      #expect(store.statistics.service == .hanging(.seconds(4)))
      #expect(results.all == [])
    }
    #expect(store.commitOnce())
    #expect(results.all == [.committed])
    let said = Array(bench.events.all[before...])
    #expect(said == [.journalHangs(.seconds(3)), .journalAnswered(after: .seconds(4))])
    #expect(store.statistics.service == .accepting)
    // For docs/metrics.md, between 2.5 and 5 seconds.
    #expect(store.statistics.commitTimes.counts[11] == 1)
    #expect(store.statistics.commitTimes.count == 1)
    #expect(store.register(newKey(2)) { _ in } == .accepted(isNew: true))
    #expect(store.close())
  }

  @Test func endsInAnErrorThatCounts() throws {
    let bench = Bench()
    let store = try bench.open()
    let results = Recorder<CommitResult>()
    #expect(store.register(newKey(1)) { results.append($0) } == .accepted(isNew: true))
    bench.files.duringNextSync {
      bench.clock.advance(.seconds(5))
      store.noteHang()
      bench.files.failAll(5)
    }
    #expect(store.commitOnce())
    #expect(results.all == [.failed])
    guard case .stalled = store.statistics.service else {
      Issue.record("\(store.statistics.service)")
      return
    }
    bench.files.failAll(nil)
    bench.clock.advance(.seconds(60))
    _ = store.snapshotStep()
    #expect(store.statistics.service == .accepting)
    #expect(store.close())
    #expect(try bench.open().find(identifier(1)) != nil)
  }

  @Test func aDiskAtRestIsNoneThatHangs() throws {
    let bench = Bench()
    let store = try bench.open()
    let before = bench.events.all.count
    bench.clock.advance(.seconds(3600))
    store.noteHang()
    #expect(bench.events.all.count == before)
    #expect(store.isAccepting)
    #expect(store.close())
  }
}
