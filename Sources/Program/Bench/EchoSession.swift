/// One open session whose game returns what it is sent, as one message or in pieces.
internal import Dialing
internal import Time

/// Why a message did not come back.
enum EchoFailure: Error, Equatable, CustomStringConvertible {
  case client(GateClientError)
  case closed(code: UInt16, reason: String)
  /// Something else came: the game speaks for itself, or bytes were lost.
  case differs

  var code: String {
    switch self {
    case .client(let error): error.code
    case .closed(let code, _): "closed_\(code)"
    case .differs: "echo_differs"
    }
  }

  var description: String {
    switch self {
    case .client(.timedOut):
      "a message did not come back in time: the game must return what it is sent (BACKEND=echo:)"
    case .client(let error): error.description
    case .closed(let code, let reason):
      "closed with \(code)\(reason.isEmpty ? "" : ": \(reason.debugDescription)")"
    case .differs: "what came back is not what was sent: the game must return just that (BACKEND=echo:)"
    }
  }
}

final class EchoSession {
  private let socket: WebSocketClient
  private let bytes: Int
  private var sent = 0

  init(_ socket: WebSocketClient, _ bytes: Int) {
    self.socket = socket
    self.bytes = bytes
  }

  /// Sends a message that differs from the one before it, and waits until it has come back whole.
  func roundTrip(within limit: Duration) throws(EchoFailure) {
    let message = EchoMessage.bytes(count: bytes, number: sent)
    sent += 1
    let clock = SystemClock()
    let deadline = clock.monotonic() + limit
    var rest = message[...]
    do throws(GateClientError) {
      try socket.send(binary: message)
    } catch {
      throw .client(error)
    }
    while !rest.isEmpty {
      let piece: [UInt8]
      switch try next(within: deadline - clock.monotonic()) {
      case .binary(let bytes): piece = bytes
      case .text(let text): piece = Array(text.utf8)
      case .pong: continue
      case .closed(let code, let reason): throw .closed(code: code, reason: reason)
      }
      guard rest.starts(with: piece) else { throw .differs }
      rest = rest.dropFirst(piece.count)
    }
  }

  /// Ends it in good order; whether the other side does is not what is measured.
  func end() { _ = try? socket.closeAndWait() }

  private func next(within limit: Duration) throws(EchoFailure) -> WebSocketClient.Message {
    do { return try socket.receive(timeout: limit) } catch { throw .client(error) }
  }
}

enum EchoMessage {
  /// A line of text that begins with its number, so that it also passes WS_MESSAGE_TYPE=text and a game that
  /// reads lines.
  static func bytes(count: Int, number: Int) -> [UInt8] {
    let digits = Array("\(number) ".utf8)
    var bytes = Array(digits.prefix(count - 1))
    while bytes.count < count - 1 { bytes.append(UInt8(ascii: "a") + UInt8(bytes.count % 26)) }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }
}
