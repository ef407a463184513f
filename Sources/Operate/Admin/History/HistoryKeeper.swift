/// Keeps the last day of the overview over restarts and crashes (docs/console.md, "Console"): a thread of its own reads
/// the file once and writes into it once a minute and at the end, so that a disk that hangs holds up nobody else.
///
/// A minute is one write of 300 bytes and no sync: a process that is killed loses a minute at most, a power cut what the
/// kernel had not written yet, and both leave whole minutes, as each carries its checksum.
internal import Glibc
package import Metrics
internal import Synchronization
package import System
package import Time

package final class HistoryKeeper: Sendable {
  /// What is told of it, once for each trouble.
  package enum Event: Equatable, Sendable {
    /// What was there counts as nothing, and a new file takes its place.
    case unread(HistoryFileError)
    /// What is there is somebody else's: it stays, and nothing is kept.
    case notOurs(String)
    /// It is tried again each minute.
    case unwritten(SystemError)
    case written
  }

  /// Where the minutes come from and go to, and who is told.
  package struct Gate: Sendable {
    let onFile: @Sendable (UnixTime) -> HistoryOnFile
    let goOn: @Sendable ([HistoryMinute], UnixTime) -> Void
    let tell: @Sendable (Event) -> Void

    package init(
      onFile: @escaping @Sendable (UnixTime) -> HistoryOnFile,
      goOn: @escaping @Sendable ([HistoryMinute], UnixTime) -> Void,
      tell: @escaping @Sendable (Event) -> Void
    ) {
      self.onFile = onFile
      self.goOn = goOn
      self.tell = tell
    }
  }

  private static let interval: Duration = .seconds(60)

  private let path: String
  private let gate: Gate
  private let clock: any Clock
  private let bell = Signal()
  private let isStopping = Atomic(false)
  private let thread = Mutex<JoinHandle?>(nil)

  package init(path: String, gate: Gate, clock: any Clock) {
    self.path = path
    self.gate = gate
    self.clock = clock
  }

  /// To be called once.
  package func begin() throws(SystemError) {
    let handle = JoinHandle(
      try Thread(name: "admin-history", niceness: Thread.behindLoops) { [self] in
        var writer = HistoryWriter(path: path, gate: gate)
        writer.read(at: clock.wall())
        while true {
          // Before it is written, so that what came until the end is in it.
          let isLast = isStopping.load(ordering: .acquiring)
          writer.write(at: clock.wall())
          if isLast { return }
          bell.wait(until: SystemClock().monotonic() + Self.interval)
        }
      })
    thread.withLock { $0 = handle }
  }

  /// All is written when this returns; to be called when nobody counts any more.
  package func stop() {
    isStopping.store(true, ordering: .releasing)
    bell.ring()
    thread.withLock { $0.take() }?.join()
  }
}
