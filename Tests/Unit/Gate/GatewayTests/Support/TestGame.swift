import Bytes
import System
import Testing

@testable import Sockets

/// A game behind a UNIX socket of the test's: it says and hears what the test wants.
final class TestGame {
  let path: String
  private let listener: UnixListener
  /// In the order in which they came.
  private(set) var callers: [Caller] = []

  init(path: String) throws {
    self.path = path
    listener = try UnixListener.bind(path)
  }

  /// Takes up those who have called.
  func accept() {
    while case .peer(let socket) = listener.accept() { callers.append(Caller(socket)) }
  }

  /// One leg of the gate's.
  final class Caller {
    private var socket: Socket?
    private(set) var heard: [UInt8] = []
    private(set) var hasEnded = false

    fileprivate init(_ socket: consuming Socket) { self.socket = consume socket }

    func say(_ text: String) { say(Array(text.utf8)) }

    /// What the gate does not take is lost.
    func say(_ bytes: [UInt8]) { _ = socket?.send(bytes.span) }

    var heardText: String { String(decoding: heard, as: UTF8.self) }

    /// Whole lines so far.
    var lines: [String] {
      heardText.split(separator: "\r\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func hear() {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while !hasEnded {
        var span = bytes.mutableSpan
        switch socket?.receive(into: &span) {
        case .bytes(let count)?: heard += bytes.prefix(count)
        case .ended?, .failed?, nil: hasEnded = true
        case .wouldBlock?: return
        }
      }
    }

    func close() { socket = nil }
    func finishSending() { socket?.finishSending() }
  }
}
