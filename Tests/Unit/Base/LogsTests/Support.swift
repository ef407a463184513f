import Glibc
import Logs
import Synchronization
import System

final class TestClock: Clock {
  private let nanoseconds = Atomic<UInt64>(0)

  func monotonic() -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
  /// 2026-02-17T00:00:00Z and what has passed since.
  func wall() -> UnixTime {
    UnixTime(milliseconds: 1_771_286_400_000 + Int64(nanoseconds.load(ordering: .relaxed) / 1_000_000))
  }
  func advance(_ duration: Duration) { nanoseconds.add(duration.wholeNanoseconds, ordering: .relaxed) }
}

/// Keeps lines as they come.
final class LineSink: LogSink {
  private let kept = Mutex<[String]>([])
  var lines: [String] { kept.withLock { $0 } }
  func write(_ line: [UInt8]) { kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
}

/// An output that the test opens and shuts, as a full pipe would.
final class GatedOutput: LogOutput {
  private struct State {
    var written: [UInt8] = []
    var batches = 0
    var isWaiting = false
    var works = true
  }

  private let state = Mutex(State())
  private let gate: Mutex<Bool>

  init(isOpen: Bool) { gate = Mutex(isOpen) }

  var text: String { String(decoding: state.withLock { $0.written }, as: UTF8.self) }
  var batches: Int { state.withLock { $0.batches } }
  func open() { gate.withLock { $0 = true } }
  func setWorks(_ works: Bool) { state.withLock { $0.works = works } }

  /// Until the writer stands before the shut gate.
  func awaitWriter() { while !state.withLock({ $0.isWaiting }) { Sched.pass() } }
  func awaitBatches(_ count: Int) { while batches < count { Sched.pass() } }

  func write(_ bytes: [UInt8]) -> Bool {
    state.withLock { $0.isWaiting = true }
    while !gate.withLock({ $0 }) { Sched.pass() }
    return state.withLock { state in
      state.isWaiting = false
      state.batches += 1
      if state.works { state.written += bytes }
      return state.works
    }
  }
}

enum Sched {
  /// Lets another thread run.
  static func pass() { sched_yield() }
}
