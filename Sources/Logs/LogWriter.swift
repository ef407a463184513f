/// The thread that writes log lines, so that nobody else ever waits for standard error.
internal import Logging
internal import Synchronization
package import System

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
/// piece. A batch is whole lines in the order of their coming, so what a crash leaves behind is a beginning
/// of the log.
package final class LogWriter: LogSink {
  private struct State {
    var buffer: LogBuffer
    var isClosing = false
    var hasEnded = false
  }

  private enum Task {
    case write(LogBuffer.Batch)
    case end
  }

  private let monitor: Monitor<State>
  private let output: any LogOutput
  private let clock: any Clock
  private let format: LogFormat
  private let thread = Mutex<Thread?>(nil)

  /// - Parameters:
  ///   - capacity: bytes that may wait, those being written included.
  ///   - lines: lines that may wait, likewise.
  package static func start(
    output: any LogOutput = StandardErrorOutput(), clock: any Clock = SystemClock(), format: LogFormat,
    capacity: Int = 4 << 20, lines: Int = 16_384
  ) throws(SystemError) -> LogWriter {
    let limits = LogBuffer.Limits(bytes: capacity, lines: lines)
    let writer = LogWriter(output: output, clock: clock, format: format, limits: limits)
    let thread = try Thread(name: "log", niceness: 0) { writer.run() }
    writer.keep(thread)
    return writer
  }

  private init(output: any LogOutput, clock: any Clock, format: LogFormat, limits: LogBuffer.Limits) {
    monitor = Monitor(State(buffer: LogBuffer(limits: limits)))
    self.output = output
    self.clock = clock
    self.format = format
  }

  private func keep(_ thread: consuming Thread) {
    var thread: Thread? = consume thread
    self.thread.withLock { $0 = thread.take() }
  }

  package func write(_ line: [UInt8]) {
    monitor.withLock { state, wake in
      _ = state.buffer.append(line)
      wake.all()
    }
  }

  /// Waits until all lines given so far are written; false when that takes longer than `time`.
  @discardableResult
  package func flush(within time: Duration) -> Bool {
    let deadline = SystemClock().monotonic() + time
    let target = monitor.withLock { state, _ in state.buffer.sequence }
    return monitor.wait(until: deadline) { state in
      state.buffer.finishedSequence >= target ? .done(true) : .wait
    } ?? false
  }

  /// Writes what waits and ends the thread; false when that takes longer than `time`. Lines given afterwards
  /// are lost.
  @discardableResult
  package func close(within time: Duration) -> Bool {
    let deadline = SystemClock().monotonic() + time
    monitor.withLock { state, wake in
      state.isClosing = true
      wake.all()
    }
    guard monitor.wait(until: deadline, { $0.hasEnded ? .done(true) : .wait }) == true else { return false }
    if let thread = thread.withLock({ $0.take() }) { thread.join() }
    return true
  }

  private func run() {
    while case .write(var batch) = nextTask() {
      if batch.leftOut > 0 { batch.bytes += notice(of: batch.leftOut) }
      let written = output.write(batch.bytes)
      monitor.withLock { state, wake in
        state.buffer.finish(batch, written: written)
        wake.all()
      }
    }
    monitor.withLock { state, wake in
      state.hasEnded = true
      wake.all()
    }
  }

  private func nextTask() -> Task {
    monitor.wait { state in
      if let batch = state.buffer.take() { return .done(.write(batch)) }
      return state.isClosing ? .done(.end) : .wait
    }
  }

  private func notice(of count: Int) -> [UInt8] {
    LogLine(
      time: clock.wall(), level: .warning, event: "lines_left_out",
      fields: ["reason": "overflow", "count": .stringConvertible(count)]
    ).bytes(format)
  }
}
