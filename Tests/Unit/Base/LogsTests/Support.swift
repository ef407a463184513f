import Glibc
import Logs
import Synchronization
import System

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
