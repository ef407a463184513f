/// Lines over a socket, bounded in length and in time: what both ends of the control socket are made of.
internal import Sockets
internal import System
internal import Time

struct LineChannel: ~Copyable {
  private let socket: Socket
  private let bell: StopBell?
  /// Received and not yet handed out.
  private var received: [UInt8] = []
  /// So many of them hold no line feed.
  private var searched = 0
  private var scratch = [UInt8](repeating: 0, count: 16 * 1024)

  init(_ socket: consuming Socket, bell: StopBell? = nil) {
    self.socket = socket
    self.bell = bell
  }

  enum Line: Equatable {
    /// Without its line feed.
    case line([UInt8])
    /// The peer has finished; what it sent without a line feed at the end is dropped.
    case ended
    case tooLong
    case timedOut
    case stopped
    case failed(SystemError)
  }

  /// The next line of at most `limit` bytes, the line feed not counted.
  mutating func readLine(limit: Int, until deadline: MonotonicTime) -> Line {
    while true {
      if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        guard end <= limit else { return .tooLong }
        let line = Array(received[..<end])
        received.removeSubrange(...end)
        searched = 0
        return .line(line)
      }
      searched = received.count
      if searched > limit { return .tooLong }
      switch Self.receive(socket, into: &scratch) {
      case .bytes(let count): received += scratch[..<count]
      case .ended: return .ended
      case .failed(let error): return .failed(error)
      case .wouldBlock:
        switch socket.wait(for: .reading, until: deadline, bell: bell) {
        case .ready: break
        case .timedOut: return .timedOut
        case .rung: return .stopped
        }
      }
    }
  }

  enum Sent: Equatable {
    case sent
    case timedOut
    case stopped
    case failed(SystemError)
  }

  /// All of `line` and a line feed.
  func write(_ line: [UInt8], until deadline: MonotonicTime) -> Sent {
    let bytes = line + [UInt8(ascii: "\n")]
    var next = 0
    while next < bytes.count {
      switch socket.send(bytes.span.extracting(next...)) {
      case .bytes(let count): next += count
      case .failed(let error): return .failed(error)
      case .wouldBlock:
        switch socket.wait(for: .writing, until: deadline, bell: bell) {
        case .ready: break
        case .timedOut: return .timedOut
        case .rung: return .stopped
        }
      }
    }
    return .sent
  }

  private static func receive(_ socket: borrowing Socket, into scratch: inout [UInt8]) -> ReceiveResult {
    var span = scratch.mutableSpan
    return socket.receive(into: &span)
  }
}
