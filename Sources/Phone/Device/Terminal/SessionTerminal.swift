/// A player at a terminal, or a script in its place: what is typed goes into a session, what the game says comes out.
///
/// With a terminal on both sides lines are edited here, apart from what the game says meanwhile. Otherwise lines go in as
/// they come, text comes out as it is, and the input waits while there is no connection.
internal import CLinux
internal import Glibc
package import PortcullisClient
package import System

package final class SessionTerminal {
  package enum Outcome: Equatable, Sendable {
    case ended(GameEnd)
    /// Somebody wanted the program to end; so did the session.
    case signal(Int32)
  }

  private let runner: SessionRunner
  private let input: OwnedDescriptor
  private let output: OwnedDescriptor
  private let staysAtEnd: Bool
  private let notify: (String) -> Void
  private let mode: TerminalMode?
  private let signals: OwnedDescriptor
  /// Nil: plain lines.
  private var console: LineConsole?
  private var isEchoOn = false
  /// Read, but not sent yet.
  private var waiting: [UInt8] = []
  private var isAtEnd = false
  private var signal: Int32?
  /// The second signal does not wait for the gate.
  private var isForced = false
  private var hasBeenAttached = false
  private var isLossTold = false

  /// - Parameters:
  ///   - staysAtEnd: at the end of the input, go on until the game ends, instead of ending the session.
  ///   - notify: takes what the player should know beside the game, a line each.
  package init(
    _ runner: SessionRunner, input: consuming OwnedDescriptor, output: consuming OwnedDescriptor,
    staysAtEnd: Bool, notify: @escaping (String) -> Void
  ) throws(SystemError) {
    self.runner = runner
    self.staysAtEnd = staysAtEnd
    self.notify = notify
    // From here on these come as input, so that nothing ends before the terminal is as it was.
    let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
    let number = unsafe wanted.withUnsafeBufferPointer { buffer in
      unsafe portcullis_signalfd(buffer.baseAddress, Int32(buffer.count))
    }
    guard number >= 0 else { throw SystemError("signalfd") }
    signals = OwnedDescriptor(owning: number)
    // A reader that goes away is an error of the write.
    _ = Glibc.signal(SIGPIPE, SIG_IGN)
    mode = TerminalMode(of: input.number)
    if mode != nil, let size = WindowSize(of: output.number) { console = LineConsole(columns: size.columns) }
    self.input = input
    self.output = output
  }

  // MARK: The loop

  package func run() throws(SystemError) -> Outcome {
    defer { mode?.restore() }
    setMode()
    tellSize()
    runner.begin()
    while true {
      try show()
      if isForced, let signal { return .signal(signal) }
      if let end = runner.end { return signal.map(Outcome.signal) ?? .ended(end) }
      let listened = [signals.number, wantsInput ? input.number : -1]
      switch try runner.wait(orInputOn: listened) {
      case 0: try heedSignals()
      case 1: try read()
      default: break
      }
      sendWaiting()
    }
  }

  /// A script waits until there is room; a player's keys are always heard.
  private var wantsInput: Bool {
    if isAtEnd || signal != nil { return false }
    return console != nil || mode != nil
      || (waiting.count < Self.readBytes && runner.isAttached && runner.hasRoom)
  }

  private static let readBytes = 16_384

  // MARK: What is typed

  private func read() throws(SystemError) {
    var buffer = [UInt8](repeating: 0, count: Self.readBytes)
    let count = try input.read(into: &buffer)
    guard count > 0 else { return end() }
    guard console != nil else {
      waiting += buffer[..<count]
      return
    }
    for input in console?.type(buffer[..<count]) ?? [] {
      switch input {
      case .line(let line):
        waiting += Array(line.utf8)
        sendWaiting()
      case .end: end()
      }
    }
  }

  /// Control-D, or the end of a script.
  private func end() {
    isAtEnd = true
  }

  private func sendWaiting() {
    // What nobody sees typed must not come much later than it was.
    let isScript = console == nil && mode == nil
    while let message = nextMessage(), runner.end == nil {
      if isScript, !runner.hasRoom || !runner.isAttached { return }
      do throws(GameInputError) {
        try runner.send(message)
      } catch {
        waiting = []
        tell("too much waits to be sent: the rest is dropped")
        break
      }
      waiting.removeFirst(message.count)
    }
    if isAtEnd, waiting.isEmpty, !staysAtEnd { runner.finish(whenSent: isScript) }
  }

  /// A line, or as much of one as a message takes, without cutting a character in two; at the end also what has no line
  /// feed.
  private func nextMessage() -> [UInt8]? {
    let limit = max(4, min(runner.maxMessage, Self.readBytes))
    let part = waiting.prefix(limit)
    if let end = part.firstIndex(of: UInt8(ascii: "\n")) { return Array(part[...end]) }
    if part.count < limit { return isAtEnd && !part.isEmpty ? Array(part) : nil }
    let cut = part.indices.suffix(4).last { part[$0] & 0xC0 != 0x80 } ?? 0
    return Array(cut > 0 ? part[..<cut] : part)
  }

  // MARK: Signals

  private func heedSignals() throws(SystemError) {
    while true {
      let number = portcullis_read_signal(signals.number)
      switch number {
      case 0: return
      case SIGWINCH: tellSize()
      case SIGCONT: try comeBack()
      case SIGTSTP:
        mode?.restore()
        // The one that cannot be held; behind it SIGCONT waits.
        _ = kill(getpid(), SIGSTOP)
      default:
        isForced = signal != nil
        signal = number
        runner.finish(whenSent: false)
      }
    }
  }

  private func tellSize() {
    guard let size = WindowSize(of: output.number) else { return }
    console?.resize(columns: size.columns)
    var client = runner.client
    client.columns = size.columns
    client.rows = size.rows
    runner.update(client)
  }

  private func comeBack() throws(SystemError) {
    setMode()
    console?.makeWay()
    console?.draw()
    try flush()
  }

  private func setMode() {
    if console != nil { mode?.takeKeys() } else { mode?.takeLines(isHidden: isEchoOn) }
  }

  // MARK: What is shown

  private func show() throws(SystemError) {
    for event in runner.takeEvents() {
      switch event {
      case .text(let text):
        let bytes = Array(text.utf8)
        if console == nil { try write(bytes) } else { console?.show(bytes) }
      case .prompt: console?.prompt()
      case .echo(let isOn):
        isEchoOn = isOn
        console?.echo(isOn)
        if console == nil { setMode() }
      case .gmcp, .msdp, .mssp: break
      case .approvals(let open): if open > 0 { tell("\(open) request(s) wait for this device's approval") }
      case .codeWanted: tell("a login waits for a one-time code of this device")
      case .gap(let messages):
        tell(
          messages.map { "\($0) message(s) of the game are missing" } ?? "something of the game is missing")
      case .inputDropped(let count): tell("\(count) message(s) waited too long and were not sent")
      case .answering(let isOn): tell(isOn ? "the gate answers again" : "the gate does not answer")
      case .doubt(let count): tell("\(count) message(s) may not have reached the game")
      case .state(let state): tell(state)
      }
    }
    try flush()
  }

  private func tell(_ state: GameState) {
    switch state {
    case .connecting, .ended: break
    case .waiting:
      if hasBeenAttached, !isLossTold { tell("the connection is lost; trying to come back") }
      isLossTold = true
    case .attached(let isResumed):
      if isResumed {
        tell("back in the game")
      } else if hasBeenAttached {
        tell("the session is gone; a new one begins")
      }
      hasBeenAttached = true
      isLossTold = false
    }
  }

  private func tell(_ notice: String) {
    console?.makeWay()
    // A terminal that is gone is noticed by the next write.
    try? flush()
    notify(notice)
    console?.draw()
  }

  private func flush() throws(SystemError) {
    guard let bytes = console?.takeOutput(), !bytes.isEmpty else { return }
    try write(bytes)
  }

  private func write(_ bytes: [UInt8]) throws(SystemError) {
    do {
      try output.writeAll(bytes)
    } catch {
      // A terminal that has hung up takes nothing, and that is what the signal says as well.
      if signal == nil { throw error }
    }
  }
}
