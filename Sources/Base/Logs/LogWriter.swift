/// The thread that writes log lines, so that nobody else ever waits for standard error.
internal import Logging
internal import Synchronization
package import System
package import Time

/// Where finished lines go; never blocks.
package protocol LogSink: Sendable {
  /// - Parameter line: with its line feed.
  func write(_ line: [UInt8])
}

/// Where the writer's batches go; may block.
package protocol LogOutput: Sendable {
  /// All of the bytes, or false when the output does not take them any more.
  func write(_ bytes: [UInt8]) -> Bool
}

/// Lines flow: `write` puts them into the buffer, the thread takes all that wait and writes them in one
/// piece: at once while there are few. When there are many they gather, so that a busy gate does not spend a switch of
/// threads on each: this thread may interrupt a loop, and after it the kernel often lets another one run that has less
/// priority than loops, for as much as a millisecond (docs/decisions/0020-registrations-beside-the-loops.md).
/// A batch is whole lines in the order of their coming, so what a crash leaves behind is a beginning
/// of the log.
package final class LogWriter: LogSink {
  private struct State {
    var buffer: LogBuffer
    var isClosing = false
    var hasBegun = false
    var hasEnded = false
    /// The thread waits for a line; otherwise it will come to look.
    var isIdle = false
    /// Those who wait for their lines.
    var flushes = 0

    var isUrgent: Bool { isClosing || flushes > 0 || buffer.isHalfFull }
  }

  package struct Pace: Sendable {
    /// Batches that are written at once in each tenth of a second.
    package var prompt = 4
    /// How long what follows them gathers.
    package var gathering = Duration.milliseconds(20)

    package init() {}
  }

  private enum Task {
    case write(LogBuffer.Batch)
    case end
  }

  private let monitor: Monitor<State>
  private let output: any LogOutput
  private let clock: any Clock
  private let format: LogFormat
  private let pace: Pace
  private let thread = Mutex<Thread?>(nil)

  /// Prepared, and begun at once.
  package static func start(
    output: any LogOutput = StandardErrorOutput(), clock: any Clock = SystemClock(), format: LogFormat,
    capacity: Int = 4 << 20, lines: Int = 16_384, pace: Pace = Pace()
  ) throws(SystemError) -> LogWriter {
    let writer = prepared(
      output: output, clock: clock, format: format, capacity: capacity, lines: lines, pace: pace)
    try writer.begin()
    return writer
  }

  /// Without a thread as yet: lines wait until `begin`, or until `close` writes them itself.
  /// - Parameters:
  ///   - capacity: bytes that may wait, those being written included.
  ///   - lines: lines that may wait, likewise.
  package static func prepared(
    output: any LogOutput = StandardErrorOutput(), clock: any Clock = SystemClock(), format: LogFormat,
    capacity: Int = 4 << 20, lines: Int = 16_384, pace: Pace = Pace()
  ) -> LogWriter {
    let limits = LogBuffer.Limits(bytes: capacity, lines: lines)
    return LogWriter(output: output, clock: clock, format: format, limits: limits, pace: pace)
  }

  /// Starts the thread; to be called once.
  package func begin() throws(SystemError) {
    let thread = try Thread(name: "log", niceness: 0) { [self] in run() }
    keep(thread)
    monitor.withLock { state, _ in state.hasBegun = true }
  }

  /// Writes what waits on the calling thread, which may block; only before `begin`.
  package func writeWaiting() {
    while true {
      guard let batch = monitor.withLock({ state, _ in state.buffer.take() }) else { return }
      write(batch)
    }
  }

  private init(
    output: any LogOutput, clock: any Clock, format: LogFormat, limits: LogBuffer.Limits, pace: Pace
  ) {
    monitor = Monitor(State(buffer: LogBuffer(limits: limits)))
    self.output = output
    self.clock = clock
    self.format = format
    self.pace = pace
  }

  private func keep(_ thread: consuming Thread) {
    var thread: Thread? = consume thread
    self.thread.withLock { $0 = thread.take() }
  }

  package func write(_ line: [UInt8]) {
    monitor.withLock { state, wake in
      _ = state.buffer.append(line)
      guard state.isIdle || state.buffer.isHalfFull else { return }
      state.isIdle = false
      wake.all()
    }
  }

  /// Waits until all lines given so far are written; false when that takes longer than `time`.
  @discardableResult
  package func flush(within time: Duration) -> Bool {
    let deadline = SystemClock().monotonic() + time
    let target = monitor.withLock { state, wake in
      state.flushes += 1
      wake.all()
      return state.buffer.sequence
    }
    defer { monitor.withLock { state, _ in state.flushes -= 1 } }
    return monitor.wait(until: deadline) { state in
      state.buffer.finishedSequence >= target ? .done(true) : .wait
    } ?? false
  }

  /// Writes what waits and ends the thread; false when that takes longer than `time`. Lines given afterwards
  /// are lost.
  @discardableResult
  package func close(within time: Duration) -> Bool {
    let deadline = SystemClock().monotonic() + time
    let isWritingItself = monitor.withLock { state, wake in
      state.isClosing = true
      wake.all()
      return !state.hasBegun
    }
    if isWritingItself { run() }
    guard monitor.wait(until: deadline, { $0.hasEnded ? .done(true) : .wait }) == true else { return false }
    if let thread = thread.withLock({ $0.take() }) { thread.join() }
    return true
  }

  private func run() {
    var tenth = MonotonicTime(nanoseconds: 0)
    var batches = 0
    while case .write(let batch) = nextTask() {
      write(batch)
      let now = SystemClock().monotonic()
      if now - tenth > .milliseconds(100) { (tenth, batches) = (now, 0) }
      batches += 1
      if batches > pace.prompt { gather(until: now + pace.gathering) }
    }
    monitor.withLock { state, wake in
      state.hasEnded = true
      wake.all()
    }
  }

  private func write(_ batch: LogBuffer.Batch) {
    var batch = batch
    if batch.leftOut > 0 { batch.bytes += notice(of: batch.leftOut) }
    let written = output.write(batch.bytes)
    monitor.withLock { state, wake in
      state.buffer.finish(batch, written: written)
      wake.all()
    }
  }

  private func nextTask() -> Task {
    monitor.wait { state in
      if let batch = state.buffer.take() { return .done(.write(batch)) }
      if state.isClosing { return .done(.end) }
      state.isIdle = true
      return .wait
    }
  }

  private func gather(until deadline: MonotonicTime) {
    _ = monitor.wait(until: deadline) { $0.isUrgent ? .done(()) : .wait }
  }

  private func notice(of count: Int) -> [UInt8] {
    LogLine(
      time: clock.wall(), level: .warning, event: "lines_left_out",
      fields: ["reason": "overflow", "count": .stringConvertible(count)]
    ).bytes(format)
  }
}
