/// Joins a WebSocket to two streams, as a terminal is joined to a game: lines go in, what comes back goes out.
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
  /// Input goes to the server as binary messages, one for each piece that a read returned: a terminal's is a line.
  /// - Parameter waitsForServer: at the end of the input, go on until the server closes, instead of closing.
  /// - Returns: how the WebSocket ended.
  package func run(_ client: WebSocketClient, waitsForServer: Bool) throws(Failure) -> WebSocketClient.Message {
    var buffer = [UInt8](repeating: 0, count: 16_384)
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
        if count > 0 {
          do { try client.send(binary: Array(buffer.prefix(count))) } catch { throw .client(error) }
          continue
        }
        isAtEnd = true
        if !waitsForServer { do { try client.close() } catch { throw .client(error) } }
      }
    }
  }

  /// How long the server may take to answer a close.
  private static let patience: Duration = .seconds(5)

  private func show(_ bytes: [UInt8]) throws(Failure) {
    do { try output.writeAll(bytes) } catch { throw .stream(error) }
  }
}
