/// The thread behind the loops that encodes and writes snapshots. It is handed files and knows no store, so it cannot
/// take the store's lock, for which loops wait.
internal import Synchronization
internal import System

final class SnapshotWriter: Sendable {
  private enum Work {
    case none
    case write(SnapshotFile)
    case end
  }

  private let work = Monitor(Work.none)
  private let thread = Mutex<JoinHandle?>(nil)

  init() throws(SystemError) {
    let started = JoinHandle(
      try Thread(name: "store-write", niceness: Thread.behindLoops) { [self] in run() })
    thread.withLock { $0 = started }
  }

  /// Returns when what was copied into the file last is written, or has failed.
  func write(_ file: SnapshotFile) {
    work.withLock { work, wake in
      work = .write(file)
      wake.all()
    }
    work.wait { work in
      if case .none = work { return .done(()) }
      return .wait
    }
  }

  /// Returns when the thread has ended; nothing may be under way.
  func stop() {
    work.withLock { work, wake in
      work = .end
      wake.all()
    }
    thread.withLock { $0.take() }?.join()
  }

  private func run() {
    while let file = next() {
      file.write()
      work.withLock { work, wake in
        work = .none
        wake.all()
      }
    }
  }

  private func next() -> SnapshotFile? {
    work.wait { work in
      switch work {
      case .none: .wait
      case .write(let file): .done(file)
      case .end: .done(nil)
      }
    }
  }
}
