/// Whether the gate lives and can serve, for `/livez` and `/readyz` (docs/operating.md, "Admin listener").
///
/// A thread looks once a second, and waits for nothing; probes find what it saw. It is no thread behind the loops, as it
/// takes locks that loops wait for.
import Admin
import Configuration
import Gateway
import KeyStore
import Synchronization
import System

final class GateChecks: Sendable {
  /// A turn takes milliseconds; a loop that does not answer for so long will not.
  static let silence: Duration = .seconds(5)
  static let interval: Duration = .seconds(1)

  private let gate: Gate
  private let isDraining: @Sendable () -> Bool
  private let clock: any Clock
  private let seen = Mutex(Seen())
  private let bell = Signal()
  private let isStopping = Atomic(false)
  private let thread = Mutex<JoinHandle?>(nil)

  private struct Seen {
    var at = MonotonicTime(nanoseconds: 0)
    /// By their indices.
    var silentLoops: [Int] = []
    var store = KeyStoreStatistics()
  }

  init(gate: Gate, isDraining: @escaping @Sendable () -> Bool, clock: any Clock) {
    self.gate = gate
    self.isDraining = isDraining
    self.clock = clock
  }

  // MARK: Life

  /// To be called once; what it sees first is there when it returns.
  func begin() throws(SystemError) {
    var question = LoopQuestion()
    look(&question)
    let handle = JoinHandle(
      try Thread(name: "admin-checks") { [self] in
        var question = LoopQuestion()
        while !isStopping.load(ordering: .relaxed) {
          look(&question)
          bell.wait(until: clock.monotonic() + Self.interval)
        }
      })
    thread.withLock { $0 = handle }
  }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    bell.ring()
    thread.withLock { $0.take() }?.join()
  }

  // MARK: Looking

  /// What the loops were asked last.
  private struct LoopQuestion {
    var asked: LoopAcknowledgement?
    var at = MonotonicTime(nanoseconds: 0)
  }

  private func look(_ question: inout LoopQuestion) {
    let now = clock.monotonic()
    var silent: [Int] = []
    if let asked = question.asked, !asked.isComplete {
      if now - question.at >= Self.silence { silent = asked.silentLoops }
    } else {
      question.asked = gate.askLoops()
      question.at = now
    }
    let store = gate.storeStatistics
    seen.withLock { seen in
      seen.at = now
      seen.silentLoops = silent
      seen.store = store
    }
  }

  // MARK: Telling

  var isAlive: Bool { seen.withLock { $0.silentLoops.isEmpty } }

  var current: Readiness {
    let seen = seen.withLock { $0 }
    return Readiness(checks: [listening, draining, loops(seen), keyStore(seen)])
  }

  private var listening: Readiness.Check {
    gate.isListening
      ? .init("listening", .ok) : .init("listening", .failed, detail: "the next process takes who comes")
  }

  private var draining: Readiness.Check {
    isDraining() ? .init("draining", .failed, detail: "no new session is let in") : .init("draining", .ok)
  }

  private func loops(_ seen: Seen) -> Readiness.Check {
    guard !seen.silentLoops.isEmpty else { return .init("loops", .ok) }
    let names = seen.silentLoops.map(String.init).joined(separator: ", ")
    return .init("loops", .failed, detail: "no answer from \(names)")
  }

  private func keyStore(_ seen: Seen) -> Readiness.Check {
    switch seen.store.service {
    case .accepting: .init("key_store", .ok)
    case .stalled(let error): .init("key_store", .failed, detail: "it cannot be written: \(error)")
    case .hanging(let time):
      .init("key_store", .failed, detail: "the disk has not answered for \(time.wholeMilliseconds) ms")
    case .closed: .init("key_store", .failed, detail: "it is closed")
    }
  }
}
