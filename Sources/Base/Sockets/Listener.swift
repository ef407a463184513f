/// Listening and connecting sockets: how they are made, and what `accept` can say.
package import Addresses
internal import CLinux
internal import Glibc
package import System

package enum AcceptResult: ~Copyable {
  case accepted(Socket, Endpoint)
  case wouldBlock
  /// No descriptor or memory is left: wait before the next try.
  case exhausted(SystemError)
  /// This one connection failed before it was accepted; others may wait (accept(2), "Error handling").
  case aborted
  /// The listener itself is of no use, now at least.
  case failed(SystemError)
}

/// What accepted sockets inherit from their listener, so that no call is spent on each of them.
package struct AcceptedOptions: Sendable {
  /// Of the kernel's buffers, each of which it doubles for its own use (socket(7)). Without a bound they grow with what has
  /// gone through.
  package let receiveBufferBytes: Int32
  package let sendBufferBytes: Int32
  /// With so much not sent yet the socket does not take more (tcp(7), `TCP_NOTSENT_LOWAT`).
  package let unsentLowWater: Int32

  package init(receiveBufferBytes: Int32, sendBufferBytes: Int32, unsentLowWater: Int32) {
    self.receiveBufferBytes = receiveBufferBytes
    self.sendBufferBytes = sendBufferBytes
    self.unsentLowWater = unsentLowWater
  }
}

package struct Listener: ~Copyable {
  package let socket: Socket

  /// Binds and listens. The options are set before it listens, as who connects in that moment has what is set by then.
  ///
  /// - Parameters:
  ///   - sharesPort: with `SO_REUSEPORT`, so that each loop has a listener of its own.
  ///   - claimsPort: fails where another process listens, even one that would share the port. Of several that come at
  ///     once one succeeds: until it listens it does not share, and `listen(2)` looks for others once more.
  ///   - accepted: nil leaves the kernel's defaults.
  package init(
    on endpoint: Endpoint, sharesPort: Bool, claimsPort: Bool = false, accepted: AcceptedOptions? = nil,
    backlog: Int32 = 4096
  ) throws(SystemError) {
    let address = SocketAddress.internet(endpoint)
    let socket = try Self.make(address, sharesPort: sharesPort && !claimsPort)
    if let accepted { socket.set(accepted) }
    guard listen(socket.descriptor, backlog) == 0 else { throw SystemError("listen") }
    // From now on those of our own may join it.
    if sharesPort { socket.set(.reusePort) }
    self.socket = socket
  }

  /// One that listens already, and shares its port.
  package init(kept socket: consuming Socket, accepted: AcceptedOptions? = nil) {
    if let accepted { socket.set(accepted) }
    self.socket = socket
  }

  /// Whether nobody listens there yet: a bind without `SO_REUSEPORT`, given up at once. It does not listen, lest a
  /// client that comes in this moment is taken in and cut off.
  package static func probe(_ endpoint: Endpoint) throws(SystemError) {
    _ = try make(.internet(endpoint), sharesPort: false)
  }

  private static func make(_ address: SocketAddress, sharesPort: Bool) throws(SystemError) -> Socket {
    var form = try address.kernelForm()
    let descriptor = portcullis_socket(address.family, Int32(SOCK_STREAM.rawValue))
    guard descriptor >= 0 else { throw SystemError("socket") }
    let socket = Socket(owning: descriptor)
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
    if sharesPort { _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, size) }
    if address.family == AF_INET6 {
      _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
    }
    guard unsafe portcullis_bind(descriptor, &form) == 0 else { throw SystemError("bind") }
    return socket
  }

  package borrowing func accept() -> AcceptResult {
    var address = portcullis_address()
    let descriptor = unsafe portcullis_accept(socket.descriptor, &address)
    if descriptor >= 0 {
      let accepted = Socket(owning: descriptor)
      guard let endpoint = SocketAddress(address)?.endpoint else {
        return .aborted
      }
      return .accepted(accepted, endpoint)
    }
    switch errno {
    case EAGAIN: return .wouldBlock
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted(SystemError("accept"))
    case ECONNABORTED, EINTR, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
      ENETUNREACH,
      EPERM:
      return .aborted
    default: return .failed(SystemError("accept"))
    }
  }
}

extension Socket {
  fileprivate borrowing func set(_ options: AcceptedOptions) {
    set(.receiveBuffer(bytes: options.receiveBufferBytes))
    set(.sendBuffer(bytes: options.sendBufferBytes))
    set(.unsentLowWater(bytes: options.unsentLowWater))
    set(.noDelay)
    set(.keepAlive)
    set(.keepAliveIdle(seconds: 60))
    set(.keepAliveInterval(seconds: 15))
    set(.keepAliveCount(4))
  }

  /// Starts a non-blocking connect; writable means that it ended one way or the other.
  package static func connecting(
    to address: SocketAddress, receiveBufferBytes: Int32? = nil
  ) throws(SystemError) -> Socket {
    var form = try address.kernelForm()
    let descriptor = portcullis_socket(address.family, Int32(SOCK_STREAM.rawValue))
    guard descriptor >= 0 else { throw SystemError("socket") }
    let socket = Socket(owning: descriptor)
    if let receiveBufferBytes { socket.set(.receiveBuffer(bytes: receiveBufferBytes)) }
    if unsafe portcullis_connect(descriptor, &form) != 0, errno != EINPROGRESS {
      throw SystemError("connect")
    }
    return socket
  }

  /// Two sockets joined to each other, for tests.
  package static func pair() throws(SystemError) -> SocketPair {
    var descriptors: [Int32] = [-1, -1]
    let failed = unsafe descriptors.withUnsafeMutableBufferPointer { buffer in
      unsafe socketpair(
        AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
        0,
        buffer.baseAddress) != 0
    }
    if failed { throw SystemError("socketpair") }
    return SocketPair(first: Socket(owning: descriptors[0]), second: Socket(owning: descriptors[1]))
  }
}

package struct SocketPair: ~Copyable {
  package var first: Socket
  package var second: Socket
}

/// A descriptor kept in reserve: let go when `accept` finds none left, so that one peer can be taken and closed.
package struct ReserveDescriptor: ~Copyable {
  private var held: Socket?

  package init() {
    refill()
  }

  package mutating func refill() {
    if held != nil { return }
    let descriptor = portcullis_eventfd()
    if descriptor >= 0 { held = Socket(owning: descriptor) }
  }

  package mutating func release() {
    held = nil
  }
}
