/// The gate's log: makes swift-log's loggers over one sink, without the global bootstrap, so that tests have
/// their own.
package import Logging
internal import Synchronization
internal import System
package import Time

package final class GateLog: Sendable {
  package let format: LogFormat
  private let sink: any LogSink
  private let clock: any Clock
  private let throttle: LogThrottle
  private let levelIndex: Atomic<Int>

  /// - Parameter linesPerSecond: of one event and code, for `decision`.
  package init(
    sink: any LogSink, clock: any Clock = SystemClock(), level: Logger.Level = .info,
    format: LogFormat = .text,
    linesPerSecond: Int = 50
  ) {
    self.sink = sink
    self.clock = clock
    self.format = format
    throttle = LogThrottle(linesPerSecond: linesPerSecond)
    levelIndex = Atomic(Self.index(level))
  }

  /// Of all loggers that have not been given a level of their own; may change at any time (SIGHUP).
  package var level: Logger.Level {
    get { Logger.Level.allCases[levelIndex.load(ordering: .relaxed)] }
    set { levelIndex.store(Self.index(newValue), ordering: .relaxed) }
  }

  package func logger(label: String = "portcullis") -> Logger {
    Logger(label: label) { _ in GateLogHandler(log: self) }
  }

  /// An admission or a refusal, of which an attacker can cause any number: beyond so many a second of the
  /// same event and code they are only counted. `fields` are made only for a line that is written.
  package func decision(
    _ event: String, code: String, level: Logger.Level = .info,
    fields: @autoclosure () -> Logger.Metadata = [:]
  ) {
    guard level >= self.level else { return }
    let verdict = throttle.admit(event: event, code: code, now: clock.monotonic())
    if let summary = verdict.summary { write(summary) }
    guard verdict.isWritten else { return }
    var fields = fields()
    if !code.isEmpty { fields["code"] = .string(code) }
    write(level, event, fields)
  }

  /// Tells what was left out; to be called about once a second, and with `all` before the end.
  package func tellLeftOut(all: Bool = false) {
    for summary in throttle.due(now: clock.monotonic(), all: all) { write(summary) }
  }

  /// What every session says: without the dictionary of a `Logger`, whose making would cost several times the line.
  package func write(_ level: Logger.Level, _ event: String, _ fields: (inout LogLineWriter) -> Void) {
    guard level >= self.level else { return }
    var line = LogLineWriter(format, time: clock.wall(), level: level, event: event)
    fields(&line)
    sink.write(line.ended())
  }

  func write(_ level: Logger.Level, _ event: String, _ fields: Logger.Metadata) {
    sink.write(LogLine(time: clock.wall(), level: level, event: event, fields: fields).bytes(format))
  }

  private func write(_ summary: LogThrottleState.Summary) {
    var fields: Logger.Metadata = [
      "reason": "rate", "about": .string(summary.event), "count": .stringConvertible(summary.leftOut),
    ]
    if !summary.code.isEmpty { fields["code"] = .string(summary.code) }
    write(.warning, "lines_left_out", fields)
  }

  private static func index(_ level: Logger.Level) -> Int {
    Logger.Level.allCases.firstIndex(of: level) ?? 0
  }
}

/// swift-log's way in: the message is the event, metadata are the fields.
package struct GateLogHandler: LogHandler {
  private let log: GateLog
  private var ownLevel: Logger.Level?
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  init(log: GateLog) {
    self.log = log
  }

  /// The log's, until it is set for this logger alone.
  package var logLevel: Logger.Level {
    get { ownLevel ?? log.level }
    set { ownLevel = newValue }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var fields = metadata
    if let provided = metadataProvider?.get() { fields.merge(provided) { _, new in new } }
    if let given = event.metadata { fields.merge(given) { _, new in new } }
    if let error = event.error { fields["error"] = .string("\(error)") }
    log.write(event.level, event.message.description, fields)
  }
}
