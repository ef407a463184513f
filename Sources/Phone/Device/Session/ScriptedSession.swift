/// A session of the app's package that another program plays: commands come in as lines of JSON, and events go out so.
///
/// Commands: `{"do":"send","line":…}`, `{"do":"gmcp","package":…,"data":…}` with the text of a JSON value, `path` for
/// another network, `cut`, `background`, `foreground`, `leave` and `close`. An event counts as handled when its line is
/// written.
internal import CLinux
internal import Glibc
internal import JSON
package import PortcullisClient
package import System

package final class ScriptedSession {
  private enum Command {
    case send(String)
    case gmcp(package: String, data: String?)
    case path, cut, background, foreground, leave, close
  }

  private let runner: SessionRunner
  private let input: OwnedDescriptor
  private let output: OwnedDescriptor
  private var received: [UInt8] = []
  private var commands: [Command] = []
  private var isAtEnd = false

  package init(_ runner: SessionRunner, input: consuming OwnedDescriptor, output: consuming OwnedDescriptor) {
    self.runner = runner
    self.input = input
    self.output = output
  }

  /// Until the session has ended.
  package func run() throws(SystemError) -> GameEnd {
    // A reader that goes away is an error of the write.
    _ = signal(SIGPIPE, SIG_IGN)
    runner.begin()
    while true {
      for event in runner.takeEvents() { try output.writeAll(EventLine.bytes(of: event)) }
      if let end = runner.end { return end }
      perform()
      // What cannot be sent yet is not read any further.
      let listened = isAtEnd || !commands.isEmpty ? -1 : input.number
      if try runner.wait(orInputOn: [listened]) == 0 { try read() }
    }
  }

  private func read() throws(SystemError) {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = try input.read(into: &buffer)
    received += buffer[..<count]
    isAtEnd = count == 0
    while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
      // What is no command is passed over.
      if let command = Self.command(Array(received[..<end])) { commands.append(command) }
      received.removeFirst(end + 1)
    }
    if isAtEnd { commands.append(.close) }
  }

  private static func command(_ line: [UInt8]) -> Command? {
    guard let object = (try? JSONValue(parsing: line.span, depthLimit: 2))?.object else { return nil }
    switch object["do"]?.string {
    case "send": return object["line"]?.string.map(Command.send)
    case "gmcp": return object["package"]?.string.map { .gmcp(package: $0, data: object["data"]?.string) }
    case "path": return .path
    case "cut": return .cut
    case "background": return .background
    case "foreground": return .foreground
    case "leave": return .leave
    case "close": return .close
    default: return nil
    }
  }

  private func perform() {
    while let command = commands.first {
      do throws(GameInputError) {
        switch command {
        case .send(let line): try runner.send(Array((line + "\n").utf8))
        case .gmcp(let package, let data): try runner.send(gmcp: package, data: data)
        case .path: runner.pathChanged()
        case .cut: runner.cut()
        case .background: runner.enterBackground()
        case .foreground: runner.enterForeground()
        case .leave: runner.leave()
        case .close: runner.finish(whenSent: true)
        }
      } catch {
        if error == .full { return }
      }
      commands.removeFirst()
    }
  }
}
