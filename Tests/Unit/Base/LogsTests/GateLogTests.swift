import Kit
import Logging
import Time
import Testing

@testable import Logs

@Suite struct GateLogTests {
  let sink = LineSink()
  let clock = ManualClock()

  static let head = "time=2026-02-17T00:00:00.000Z"

  @Test func loggersWriteEventsWithFields() {
    let log = GateLog(sink: sink, clock: clock)
    var logger = log.logger()
    logger[metadataKey: "connection"] = "7"
    logger.info("opened", metadata: ["source": "192.0.2.1"])
    logger.warning("closed", metadata: ["connection": "8"])
    logger.debug("unseen")
    #expect(
      sink.lines == [
        "\(Self.head) level=info event=opened connection=7 source=192.0.2.1\n",
        "\(Self.head) level=warning event=closed connection=8\n",
      ])
  }

  @Test func theLevelChangesAtRunTimeForLoggersThatExist() {
    let log = GateLog(sink: sink, clock: clock, level: .error)
    let logger = log.logger()
    var own = log.logger()
    own.logLevel = .trace
    logger.info("1")
    log.level = .debug
    logger.debug("2")
    log.level = .critical
    logger.error("3")
    own.trace("4")
    #expect(log.level == .critical)
    #expect(sink.lines.map { String($0.suffix(2).first ?? " ") } == ["2", "4"])
  }

  @Test func providersAndErrorsBecomeFields() {
    struct Broken: Error, CustomStringConvertible { let description = "broken pipe" }
    let log = GateLog(sink: sink, clock: clock, format: .json)
    var handler = GateLogHandler(log: log)
    handler.metadataProvider = Logger.MetadataProvider { ["step": "chain", "code": "x"] }
    let logger = Logger(label: "test") { _ in handler }
    logger.error("refused", error: Broken(), metadata: ["code": "y"])
    #expect(
      sink.lines == [
        #"{"time":"2026-02-17T00:00:00.000Z","level":"error","event":"refused","code":"y","step":"chain","#
          + #""error":"broken pipe"}"# + "\n"
      ])
  }

  @Test func decisionsAreCountedBeyondTheirRate() {
    let log = GateLog(sink: sink, clock: clock, linesPerSecond: 2)
    var made = 0
    func fields() -> Logger.Metadata {
      made += 1
      return ["result": "refused"]
    }
    for _ in 0..<5 { log.decision("upgrade", code: "nonce_invalid", fields: fields()) }
    log.decision("upgrade", code: "key_unknown")
    log.decision("unseen", code: "", level: .debug)
    #expect(made == 2)
    let refused = "\(Self.head) level=info event=upgrade result=refused code=nonce_invalid\n"
    #expect(sink.lines == [refused, refused, "\(Self.head) level=info event=upgrade code=key_unknown\n"])
    clock.advance(.seconds(1))
    log.decision("upgrade", code: "nonce_invalid")
    let later = "time=2026-02-17T00:00:01.000Z"
    #expect(
      sink.lines.dropFirst(3) == [
        "\(later) level=warning event=lines_left_out code=nonce_invalid about=upgrade count=3 reason=rate\n",
        "\(later) level=info event=upgrade code=nonce_invalid\n",
      ])
  }

  @Test func whatWasLeftOutIsToldThoughNothingFollows() {
    let log = GateLog(sink: sink, clock: clock, linesPerSecond: 1)
    for _ in 0..<3 { log.decision("admitted", code: "") }
    log.tellLeftOut()
    #expect(sink.lines.count == 1)
    log.tellLeftOut(all: true)
    #expect(
      sink.lines.last
        == "\(Self.head) level=warning event=lines_left_out about=admitted count=2 reason=rate\n")
    log.tellLeftOut(all: true)
    #expect(sink.lines.count == 2)
  }
}

@Suite struct LogThrottleTests {
  func time(_ milliseconds: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: UInt64(milliseconds) * 1_000_000)
  }

  @Test func aSecondAtATime() {
    let state = LogThrottle(linesPerSecond: 2)
    let steps: [(Int, Bool, Int?)] = [
      (0, true, nil), (500, true, nil), (999, false, nil), (999, false, nil), (1000, true, 2),
      (1001, true, nil),
      (1999, false, nil), (2000, true, 1), (5000, true, nil),
    ]
    for (at, isWritten, leftOut) in steps {
      let verdict = state.admit(event: "e", code: "c", now: time(at))
      #expect(verdict.isWritten == isWritten, "at \(at)")
      #expect(verdict.summary?.leftOut == leftOut, "at \(at)")
    }
  }

  @Test func kindsAreCountedApart() {
    let state = LogThrottle(linesPerSecond: 1)
    for (event, code) in [("a", "x"), ("a", "y"), ("b", "x")] {
      #expect(state.admit(event: event, code: code, now: time(0)).isWritten)
      #expect(!state.admit(event: event, code: code, now: time(0)).isWritten)
    }
    #expect(state.due(now: time(999)).isEmpty)
    #expect(state.due(now: time(1000)).map(\.event) == ["a", "a", "b"])
    #expect(state.due(now: time(1000)).isEmpty)
    #expect(
      state.admit(event: "a", code: "x", now: time(1000))
        == LogThrottleState.Verdict(isWritten: true, summary: nil))
  }

  @Test func memoryIsBounded() {
    let state = LogThrottle(linesPerSecond: 1)
    for number in 0..<256 { #expect(state.admit(event: "\(number)", code: "", now: time(0)).isWritten) }
    #expect(state.admit(event: "256", code: "", now: time(0)).isWritten)
    for number in 257..<300 { #expect(!state.admit(event: "\(number)", code: "", now: time(0)).isWritten) }
    #expect(
      state.due(now: time(0), all: true) == [LogThrottleState.Summary(event: "other", code: "", leftOut: 43)])
    #expect(state.admit(event: "300", code: "", now: time(0)).isWritten)
  }

  @Test func atLeastOneLine() {
    let state = LogThrottle(linesPerSecond: 0)
    #expect(state.admit(event: "e", code: "", now: time(0)).isWritten)
    #expect(!state.admit(event: "e", code: "", now: time(0)).isWritten)
  }
}
