/// What was deleted is in no file of the store, while the gate has it open: after an order, and after the retention.
import Bytes
import Crypto
import DeviceWire
import JSON
import Kit
import System
import Testing
import Time

@testable import Registry

@Suite struct ErasureTests {
  private let name = "zebedee-4711"
  private let clock = ManualClock(nanoseconds: SystemClock().monotonic().nanoseconds)

  private func inStore(_ body: (RegistryWorker, String) throws -> Void) throws {
    let folder = try TemporaryFolder(prefix: "portcullis-erasure-")
    let path = folder.path + "/devices.db"
    var settings = RegistrySettings(publicURL: "https://gate.example")
    settings.pins = [PublicKeyPin(Bytes32())]
    let outcome = Result {
      let worker = try RegistryWorker(
        RegistryDatabase(path), settings: settings, clock: clock, entropy: KernelEntropy(),
        listener: Listener(),
        inbox: Monitor(Registry.Inbox()))
      try body(worker, path)
      worker.finish()
    }
    folder.remove()
    try outcome.get()
  }

  private func serve(
    _ worker: RegistryWorker, _ verb: String, _ arguments: String
  ) throws -> WorkerPart.Answer {
    let (bytes, answer) = (Array(arguments.utf8), WorkerPart.Answer())
    let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 4).object)
    let call = try OperatorOrder.call(verb, object)
    worker.serve([
      Registry.Request(
        handle: RequestHandle(number: 1), call: call, origin: .gate, wait: nil,
        completion: { answer.say($0) })
    ])
    while !worker.ready.isEmpty {
      let group = worker.ready
      worker.ready = []
      worker.serve(group)
    }
    return answer
  }

  private func files(with text: String, at path: String) throws -> [String] {
    try ["", "-wal"].filter { end in
      guard WholeFile.exists(path + end) else { return false }
      let (bytes, part) = (try WholeFile.read(path + end, limit: 1 << 26), Array(text.utf8))
      return bytes.indices.contains { bytes[$0] == part[0] && bytes[$0...].starts(with: part) }
    }
  }

  /// A pairing ends by itself, and its row goes thirty days later; the log is emptied a second after that.
  @Test func afterTheRetention() throws {
    try inStore { worker, path in
      worker.tendIfDue()
      #expect(worker.erasure == nil)
      let opened = try serve(worker, "pair-open", #"{"name":"\#(name)"}"#)
      let written = try files(with: name, at: path)
      #expect(opened.reply?.isRefusal == false && written == ["-wal"])
      clock.advance(.seconds(600))
      worker.tendIfDue()
      let ended = try files(with: name, at: path)
      #expect(!ended.isEmpty)
      clock.advance(.seconds(31 * 86_400))
      worker.tendIfDue()
      #expect(worker.erasure != nil)
      clock.advance(.seconds(1))
      #expect(worker.nextMoment() <= clock.monotonic())
      worker.tendIfDue()
      let left = try files(with: name, at: path)
      #expect(worker.erasure == nil && left.isEmpty)
    }
  }

  /// Whoever orders it is answered when the name is gone, and not before.
  @Test func afterAnOrder() throws {
    try inStore { worker, path in
      worker.tendIfDue()
      _ = try serve(worker, "pair-open", #"{"subject":"\#(name)"}"#)
      let written = try files(with: name, at: path)
      let forgotten = try serve(worker, "devices-forget", #"{"subject":"\#(name)"}"#)
      #expect(written == ["-wal"] && forgotten.reply == nil && worker.erasure?.waiting.count == 1)
      worker.tendIfDue()
      let left = try files(with: name, at: path)
      #expect(forgotten.reply?.isRefusal == false && worker.erasure == nil && left.isEmpty)
    }
  }

  /// Upkeep deletes often: the log is emptied each time, the pages are gone through once an hour, and at once where a command waits.
  @Test func thePagesRestWhereNobodyWaits() throws {
    try inStore { worker, _ in
      worker.tendIfDue()
      #expect(worker.erasure == nil && worker.scrubbing == nil && worker.scrubbedAt != nil, "at the start")
      worker.noteErasure()
      clock.advance(.seconds(1))
      worker.tendIfDue()
      #expect(worker.erasure == nil && worker.scrubbing?.page == 0)
      let forgotten = try serve(worker, "devices-forget", #"{"subject":"\#(name)"}"#)
      #expect(forgotten.reply == nil)
      worker.tendIfDue()
      #expect(forgotten.reply?.isRefusal == false && worker.scrubbing == nil)
      worker.noteErasure()
      clock.advance(.seconds(1))
      worker.tendIfDue()
      clock.advance(.seconds(3598))
      worker.tendIfDue()
      #expect(worker.scrubbing != nil)
      clock.advance(.seconds(1))
      #expect(worker.nextMoment() <= clock.monotonic())
      worker.tendIfDue()
      #expect(worker.scrubbing == nil)
    }
  }
}
