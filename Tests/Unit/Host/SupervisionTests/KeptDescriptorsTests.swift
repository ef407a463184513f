/// What a supervisor keeps, and in what words it is asked to.
import Glibc
import System
import Testing

@testable import Supervision

@Suite struct SupervisedNoticeTests {
  @Test func aDescriptorToKeep() {
    let notice = SupervisedNotice("FDSTORE=1\nFDNAME=s000\nFDPOLL=0")
    #expect(notice.stores && !notice.removes && !notice.isWatched && notice.name == "s000")
    #expect(notice.passedOn.isEmpty)
  }

  @Test func withoutANameItHasSystemdsOwn() {
    let notice = SupervisedNotice("FDSTORE=1")
    #expect(notice.stores && notice.isWatched && notice.name == "stored")
  }

  @Test func aDescriptorToGiveUp() {
    let notice = SupervisedNotice("FDSTOREREMOVE=1\nFDNAME=over")
    #expect(notice.removes && !notice.stores && notice.name == "over")
  }

  private static let passed: [(String, [String], [String])] = [
    (
      "READY=1\nSTATUS=Listening on 1.2.3.4:5, 2 sessions",
      ["READY=1", "STATUS=Listening on 1.2.3.4:5, 2 sessions"], []
    ),
    (
      "RELOADING=1\nMONOTONIC_USEC=17\nSTATUS=Reloading",
      ["RELOADING=1", "MONOTONIC_USEC=17", "STATUS=Reloading"], []
    ),
    ("WATCHDOG=1\nSTATUS=x", ["WATCHDOG=1", "STATUS=x"], []),
    ("STOPPING=1\nSTATUS=Draining", ["STATUS=Draining"], ["STOPPING=1"]),
    (
      "MAINPID=1\nWATCHDOG=trigger\nWATCHDOG_USEC=1\nERRNO=2\nEXTEND_TIMEOUT_USEC=9\nNOTIFYACCESS=all", [], []
    ),
    ("READY=2\nRELOADING=\nMONOTONIC_USEC=soon\nSTATUS=a\u{7}b\n=\n\nREADY", [], []),
    ("STATUS=" + String(repeating: "x", count: 1025), [], []),
  ]

  @Test(arguments: passed)
  func whatIsPassedOn(text: String, always: [String], atEnd: [String]) {
    let notice = SupervisedNotice(text)
    #expect(notice.passedOn == always)
    #expect(notice.passedOnAtEnd == atEnd)
    #expect(!notice.stores && !notice.removes && !notice.isBarrier)
  }
}

@Suite struct GateEnvironmentTests {
  private func variables(_ environment: [(String, String)]) -> [String] {
    GateEnvironment.of(environment, supervisor: 42, inbox: "@name", capacity: 9).map { "\($0.0)=\($0.1)" }
  }

  @Test func theSupervisorStandsInForItsManager() {
    let of = variables([
      ("PATH", "/bin"), ("NOTIFY_SOCKET", "/run/notify"), ("FDSTORE", "3"), ("LISTEN_PID", "42"),
      ("LISTEN_FDS", "1"), ("LISTEN_FDNAMES", "x"),
    ])
    #expect(of == ["PATH=/bin", "NOTIFY_SOCKET=@name", "FDSTORE=9"])
  }

  /// It would name the supervisor, and the gate would think another process is meant.
  @Test func signsOfLifeAreTheGatesToGive() {
    #expect(variables([("WATCHDOG_USEC", "7"), ("WATCHDOG_PID", "42")]).contains("WATCHDOG_USEC=7"))
    #expect(variables([("WATCHDOG_USEC", "7")]).contains("WATCHDOG_USEC=7"))
    #expect(!variables([("WATCHDOG_USEC", "7"), ("WATCHDOG_PID", "41")]).contains("WATCHDOG_USEC=7"))
  }
}

@Suite struct KeptDescriptorsTests {
  private func descriptor() throws -> OwnedDescriptor { try OwnedDescriptor.open(reading: "/dev/null") }

  /// What came of it, as a word.
  private func keep(_ kept: inout KeptDescriptors, _ name: String) throws -> KeptDescriptors.Refusal? {
    let descriptor = try descriptor()
    do throws(KeptDescriptors.Refusal) {
      try kept.keep(descriptor, name, isWatched: false)
      return nil
    } catch {
      return error
    }
  }

  @Test func boundedByTheirNumber() throws {
    var kept = KeptDescriptors(capacity: 2, closer: try DescriptorCloser())
    let outcomes = [try keep(&kept, "a"), try keep(&kept, "b"), try keep(&kept, "c")]
    #expect(outcomes == [nil, nil, .full])
    kept.remove("a")
    let after = try keep(&kept, "c")
    #expect(after == nil)
    let names = kept.entries.map(\.name)
    #expect(names == ["b", "c"])
    // Out of the way of 3, 4, which the next process has for them.
    let isOutOfTheWay = kept.entries.allSatisfy { $0.number >= 5 }
    #expect(isOutOfTheWay)
  }

  /// Also when there is no room for one more.
  @Test func theLaterOfOneNameStays() throws {
    var kept = KeptDescriptors(capacity: 1, closer: try DescriptorCloser())
    let outcomes = [try keep(&kept, "a"), try keep(&kept, "a")]
    #expect(outcomes == [nil, nil])
    let count = kept.entries.count
    #expect(count == 1)
  }

  @Test(arguments: [
    ("", false), ("a", true), ("a:b", false), ("a\tb", false), ("é", false), ("a b", true),
    (String(repeating: "x", count: 255), true), (String(repeating: "x", count: 256), false),
  ])
  func names(name: String, isFit: Bool) throws {
    var kept = KeptDescriptors(capacity: 2, closer: try DescriptorCloser())
    let outcome = try keep(&kept, name)
    #expect(outcome == (isFit ? nil : .badName))
  }

  /// The other end of a barrier that it has met.
  private func meet(_ kept: inout KeptDescriptors) throws -> OwnedDescriptor {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    kept.meet(OwnedDescriptor(owning: ends[1]))
    return OwnedDescriptor(owning: ends[0])
  }

  /// Whether the writing end is closed, or will be soon.
  private func isOver(_ barrier: borrowing OwnedDescriptor, within milliseconds: Int32) -> Bool {
    var ready = pollfd(fd: barrier.number, events: 0, revents: 0)
    return unsafe poll(&ready, 1, milliseconds) > 0
  }

  /// The gate takes its end for a word that all is kept.
  @Test func aBarrierWaitsForWhatIsRefused() throws {
    var kept = KeptDescriptors(capacity: 1, closer: try DescriptorCloser())
    let first = try keep(&kept, "a")
    let whole = try meet(&kept)
    let second = try keep(&kept, "b")
    let third = try keep(&kept, "c:d")
    #expect([first, second, third] == [nil, .full, .badName])
    let barrier = try meet(&kept)
    let wasWhole = isOver(whole, within: 60_000)
    kept.remove("c:d")
    kept.remove("a")
    // It was closed by the thread that has closed the first, if at all.
    let wasOver = isOver(barrier, within: 50)
    let again = try keep(&kept, "b")
    let isOver = isOver(barrier, within: 60_000)
    #expect(wasWhole && !wasOver && again == nil && isOver)
  }

  @Test func aBarrierEndsWithTheGateThatMetIt() throws {
    var kept = KeptDescriptors(capacity: 1, closer: try DescriptorCloser())
    _ = try (keep(&kept, "a"), keep(&kept, "b"))
    let barrier = try meet(&kept)
    kept.forgetRefusals()
    let isOver = isOver(barrier, within: 60_000)
    #expect(isOver)
  }

  /// execve(2) would refuse the next start.
  @Test func boundedByTheLengthOfAllNames() throws {
    var kept = KeptDescriptors(capacity: 1000, closer: try DescriptorCloser())
    var refused: KeptDescriptors.Refusal?
    while refused == nil {
      let name = String(kept.entries.count) + String(repeating: "x", count: 250)
      refused = try keep(&kept, name)
    }
    let bytes = kept.entries.map(\.name).joined(separator: ":").utf8.count
    #expect(refused == .full)
    #expect((KeptDescriptors.nameLimit - 260...KeptDescriptors.nameLimit).contains(bytes))
  }
}
