/// When the registry waits for more before it begins a group.
import Addresses
import Kit
import Synchronization
import System
import Testing
import Time

@testable import Registry

@Suite struct GatheringTests {
  private struct Step: RegistryCall {
    var evidenceStep = EvidenceStep.none
    var run: @Sendable () -> Void = {}

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      run()
      return .reply(.answered([]))
    }
  }

  private func request(_ number: Int, _ step: EvidenceStep) -> Registry.Request {
    Registry.Request(
      handle: RequestHandle(number: UInt64(number)), call: Step(evidenceStep: step), origin: .gate, wait: nil,
      completion: { _ in })
  }

  private func inbox(waiting steps: [EvidenceStep]) -> Registry.Inbox {
    var inbox = Registry.Inbox()
    for (number, step) in steps.enumerated() {
      let isTaken = inbox.append(request(number, step), lane: .address(IPAddress(v4: UInt32(number))))
      #expect(isTaken)
    }
    return inbox
  }

  private func take(_ inbox: inout Registry.Inbox, resting: Bool = false) -> [UInt64] {
    inbox.take(RegistryWorker.groupLimit, isEvidenceResting: resting).map(\.handle.number)
  }

  @Test func whoAsksAloneIsNotKeptWaiting() {
    #expect(!inbox(waiting: []).mayGather)
    #expect(inbox(waiting: [.none]).mayGather)
    // What rests anyhow is no reason to wait.
    #expect(!inbox(waiting: [.brought, .asked]).mayGather)
  }

  @Test func evidenceIsBehindAllOthers() {
    var inbox = inbox(waiting: [.asked, .none, .brought, .none])
    #expect(take(&inbox) == [1, 3, 2, 0])
    #expect(inbox.isEmpty)
  }

  /// From one address or many: what is wrong with it is counted, too.
  @Test func whatWasJudgedIsNotKeptOutByQuestions() {
    let lane = Lane.address(IPAddress(v4: 1))
    var inbox = Registry.Inbox()
    let taken = (0..<100).filter { inbox.append(request($0, .asked), lane: lane) }
    #expect(taken.count == RequestQueue<Registry.Request>.capacityOfLane)
    let isTaken = inbox.append(request(100, .brought), lane: lane)
    #expect(isTaken)
    #expect(take(&inbox).first == 100)
  }

  @Test func whatRestsIsLeft() {
    var inbox = inbox(waiting: [.brought, .none, .asked])
    #expect(take(&inbox, resting: true) == [1])
    #expect(!inbox.isEmpty && inbox.isEvidenceResting)
    #expect(take(&inbox, resting: true).isEmpty)
    #expect(take(&inbox) == [0, 2])
    #expect(inbox.isEmpty && !inbox.isEvidenceResting)
  }

  /// Whoever asks for something else waits for no more of it.
  @Test func fewAreServedAtOnce() {
    var inbox = inbox(waiting: Array(repeating: .brought, count: 40))
    let counts = (0..<4).map { _ in take(&inbox).count }
    #expect(counts == [16, 16, 8, 0])
  }

  @Test func aGroupThatIsFullBegins() {
    #expect(inbox(waiting: Array(repeating: .none, count: RegistryWorker.groupLimit - 1)).mayGather)
    var full = inbox(waiting: Array(repeating: .none, count: RegistryWorker.groupLimit) + [.brought])
    #expect(!full.mayGather)
    // Evidence has its place all the same.
    let group = take(&full)
    #expect(group.count == RegistryWorker.groupLimit && group.last == UInt64(RegistryWorker.groupLimit))
    #expect(take(&full) == [UInt64(RegistryWorker.groupLimit - 1)])
  }

  @Test func whoEndsDoesNotWait() {
    var draining = inbox(waiting: [.none, .brought])
    draining.isDraining = true
    #expect(!draining.mayGather)
    #expect(take(&draining, resting: true) == [0, 1])
    var stopping = inbox(waiting: [.none, .brought])
    stopping.isStopping = true
    #expect(!stopping.mayGather)
    #expect(take(&stopping, resting: true) == [0, 1])
  }

  // MARK: With the thread

  /// What happens, in its order.
  private final class Diary: Sendable {
    private let entries = Monitor<[String]>([])

    func note(_ entry: String) {
      entries.withLock { entries, wake in
        entries.append(entry)
        wake.all()
      }
    }

    func wait(for entry: String) {
      entries.wait { $0.contains(entry) ? .done(()) : .wait }
    }

    var all: [String] { entries.withLock { entries, _ in entries } }
  }

  private struct Gathering {
    let registry: Registry
    let diary = Diary()

    /// - Parameter interval: from one sync for evidence to the next.
    init(in folder: String, interval: Duration = .seconds(3600)) throws {
      registry = try Registry(
        RegistryDatabase(folder + "/devices.db"),
        settings: RegistrySettings(publicURL: "https://gate.example"),
        clock: SystemClock(), entropy: KernelEntropy(), listener: Listener(),
        evidencePace: EvidencePace(interval: interval))
      try registry.begin()
    }

    func submit(_ name: String, _ step: EvidenceStep) {
      let diary = diary
      let call = Step(evidenceStep: step) { diary.note("\(name) runs") }
      let handle = registry.submit(call, lane: .host, origin: .gate) { _ in diary.note("\(name) is told") }
      #expect(handle != nil)
    }
  }

  /// The first is served at once, what comes behind it rests, for an hour here, and a stop takes it in one group.
  @Test func whoBringsNoneIsServedAtOnce() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-gathering-")
    let gathering = try Gathering(in: folder.path)
    gathering.submit("first", .brought)
    gathering.diary.wait(for: "first is told")
    gathering.submit("second", .brought)
    gathering.submit("third", .asked)
    for name in ["other", "another"] {
      gathering.submit(name, .none)
      gathering.diary.wait(for: "\(name) is told")
    }
    #expect(
      gathering.diary.all == [
        "first runs", "first is told", "other runs", "other is told", "another runs", "another is told",
      ])
    gathering.registry.drain()
    gathering.diary.wait(for: "third is told")
    #expect(
      gathering.diary.all.dropFirst(6) == ["second runs", "third runs", "second is told", "third is told"])
    gathering.registry.stop()
    folder.remove()
  }

  /// What it took to judge it counts as well, and whoever is served in between does not pay for it.
  @Test func behindDearEvidenceMoreRests() throws {
    let part = try WorkerPart()
    try part.start()
    let worker = try #require(part.worker)
    let began = MonotonicTime(nanoseconds: 7_000_000_000)
    worker.inbox.withLock { inbox, _ in inbox.judging = .milliseconds(50) }
    worker.noteEvidence([request(0, .none)], behind: began, spent: .milliseconds(9))
    #expect(worker.evidencePace.from == MonotonicTime(nanoseconds: 0))
    worker.noteEvidence([request(1, .none), request(2, .brought)], behind: began, spent: .milliseconds(1))
    #expect(worker.evidencePace.from - began == .milliseconds(204))
    worker.noteEvidence([request(3, .asked)], behind: began, spent: .milliseconds(1))
    #expect(worker.evidencePace.from - began == .milliseconds(4))
    part.stop()
  }

  /// Nobody has to wake the registry.
  @Test func whatRestsIsServedInTime() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-gathering-")
    let gathering = try Gathering(in: folder.path, interval: .milliseconds(5))
    for number in 0..<40 {
      gathering.submit("\(number)", number % 3 == 0 ? .asked : .brought)
      if number % 4 == 0 { gathering.diary.wait(for: "\(number) is told") }
    }
    gathering.diary.wait(for: "39 is told")
    gathering.registry.stop()
    folder.remove()
  }
}
