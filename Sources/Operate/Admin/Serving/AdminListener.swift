/// Where the admin listener is bound: an address or a UNIX socket, before privileges are given up.
package import Addresses
package import Sockets
package import System

package final class AdminListener: Sendable {
  private enum Kind: ~Copyable, Sendable {
    case internet(Listener)
    case unix(UnixListener)
  }

  private let kind: Kind

  private init(_ kind: consuming Kind) {
    self.kind = kind
  }

  /// The queue is short: few clients ask, and one that is not accepted at once tries again.
  private static let backlog: Int32 = 128

  package static func bind(_ endpoint: Endpoint) throws(SystemError) -> AdminListener {
    AdminListener(
      .internet(try Listener(on: endpoint, sharesPort: false, backlog: backlog)))
  }

  /// A socket that is bound already, and whose file this owns from here on.
  package convenience init(_ listener: UnixListener) {
    self.init(.unix(listener))
  }

  /// With the port that the kernel chose where it was to choose one; nil of a UNIX socket.
  package var endpoint: Endpoint? {
    switch kind {
    case .internet(let listener): listener.socket.localAddress()?.endpoint
    case .unix: nil
    }
  }

  enum Arrival: ~Copyable {
    case peer(Socket, Endpoint)
    case local(Socket, UnixPeer?)
    case nobody
    /// Out of descriptors, most likely: the peer stays in the queue.
    case failed
  }

  func accept() -> Arrival {
    switch kind {
    case .internet(let listener):
      switch listener.accept() {
      case .accepted(let socket, let peer):
        socket.set(.noDelay)
        return .peer(socket, peer)
      case .wouldBlock: return .nobody
      // Another may wait behind it, and is reported again.
      case .aborted: return .nobody
      case .exhausted: return .failed
      case .failed: return .failed
      }
    case .unix(let listener):
      switch listener.accept() {
      case .peer(let socket):
        let peer = socket.peer()
        return .local(socket, peer)
      case .nobody: return .nobody
      case .failed: return .failed
      }
    }
  }

  func register(with poller: borrowing Poller, token: UInt64) throws(SystemError) {
    switch kind {
    case .internet(let listener): try poller.addReadable(listener.socket, token: token)
    case .unix(let listener): try listener.register(with: poller, token: token)
    }
  }

  func unregister(from poller: borrowing Poller) {
    switch kind {
    case .internet(let listener): poller.remove(listener.socket)
    case .unix(let listener): listener.unregister(from: poller)
    }
  }

  /// Takes the socket off the file system.
  package func remove() {
    switch kind {
    case .internet: break
    case .unix(let listener): listener.remove()
    }
  }
}
