/// Joins a WebSocket to two streams, as a terminal is joined to a game: lines go in, what comes back goes
/// out.
package import Dialing
package import System

package struct TerminalBridge: ~Copyable {
  private let input: OwnedDescriptor
  private let output: OwnedDescriptor

  package init(input: consuming OwnedDescriptor, output: consuming OwnedDescriptor) {
    self.input = input
    self.output = output
  }

  package enum Failure: Error, Equatable, Sendable {
    case client(GateClientError)
    case stream(SystemError)
  }

  /// Runs until the server closes, or the input ends.
  ///
  /// Input goes to the server as binary messages: one for each line, its line feed included.
  /// - Parameter waitsForServer: at the end of the input, go on until the server closes, instead of closing.
  /// - Returns: how the WebSocket ended.
  package func run(_ client: WebSocketClient, waitsForServer: Bool) throws(Failure) -> WebSocketClient.Message
  {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var line: [UInt8] = []
    var isAtEnd = false
    while true {
      let message: WebSocketClient.Message?
      do throws(GateClientError) {
        message =
          if isAtEnd {
            try client.receive(timeout: waitsForServer ? nil : Self.patience)
          } else {
            try client.receive(orInputOn: input.number)
          }
      } catch .timedOut {
        return .closed(code: 1006, reason: "no answer to the close")
      } catch {
        throw .client(error)
      }
      switch message {
      case .text(let text): try show(Array(text.utf8))
      case .binary(let bytes): try show(bytes)
      case .pong: break
      case .closed: return message ?? .closed(code: 1006, reason: "")
      case nil:
        let count: Int
        do { count = try input.read(into: &buffer) } catch { throw .stream(error) }
        line += buffer.prefix(count)
        isAtEnd = count == 0
        do { try sendLines(of: &line, isLast: isAtEnd, client) } catch { throw .client(error) }
        guard isAtEnd else { continue }
        if !waitsForServer { do { try client.close() } catch { throw .client(error) } }
      }
    }
  }

  /// How long the server may take to answer a close.
  private static let patience: Duration = .seconds(5)

  /// Below what a gate takes in one message.
  private static let longestLine = 16_384

  /// Sends whole lines, and what is left when it is long or the last; the rest stays.
  private func sendLines(
    of text: inout [UInt8], isLast: Bool, _ client: WebSocketClient
  ) throws(GateClientError) {
    var start = 0
    while start < text.count {
      let limit = min(text.count, start + Self.longestLine)
      var end = text[start..<limit].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
      if end == nil, isLast || limit - start == Self.longestLine { end = limit }
      guard let end else { break }
      try client.send(binary: Array(text[start..<end]))
      start = end
    }
    text.removeFirst(start)
  }

  private func show(_ bytes: [UInt8]) throws(Failure) {
    do { try output.writeAll(bytes) } catch { throw .stream(error) }
  }
}
