/// One non-blocking socket, owned: it closes when it goes, and its calls report what the kernel said.
internal import CLinux
internal import Glibc
package import System

/// What a `receive` found.
package enum ReceiveResult: Equatable, Sendable {
  /// So many bytes; fewer than there was room for means there were no more just then.
  case bytes(Int)
  case wouldBlock
  /// The peer's FIN.
  case ended
  case failed(SystemError)
}

/// What a `send` did.
package enum SendResult: Equatable, Sendable {
  /// So many bytes, at least one; fewer than offered means the kernel's buffer is full.
  case bytes(Int)
  case wouldBlock
  case failed(SystemError)
}

package struct Socket: ~Copyable {
  /// Only for modules that wrap C (epoll here, the BIO in TLS): it is never stored beyond this socket's life.
  package let descriptor: Int32

  init(owning descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// One that was kept for this process. It has to be a socket, and not to make its reader wait.
  package init(_ kept: consuming OwnedDescriptor) {
    self.init(owning: kept.release())
  }

  deinit {
    _ = Glibc.close(descriptor)
  }

  /// A second descriptor of the same connection, for the service manager to keep.
  package borrowing func duplicate() throws(SystemError) -> OwnedDescriptor {
    try OwnedDescriptor.duplicate(descriptor)
  }

  /// Ends the connection in both directions, also for other processes that have a descriptor of it.
  package borrowing func end() {
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }

  /// What the kernel alone calls it (`SO_COOKIE`, socket(7)): the same in each process that has a descriptor of it, and no
  /// other socket's as long as the system runs. 0 where nobody knows.
  package var cookie: UInt64 { portcullis_socket_cookie(descriptor) }

  /// How many bytes it has taken of all that any process has sent on it, and a constant more: two of these tell what was
  /// taken between them. Nil where the kernel does not count them, as of a UNIX socket.
  package var bytesTaken: UInt64? {
    var bytes: UInt64 = 0
    // The call writes one number.
    return unsafe portcullis_socket_taken(descriptor, &bytes) == 0 ? bytes : nil
  }

  /// One `recv`; EINTR is retried. `bytes` must have room, else what came back would look like a FIN.
  package borrowing func receive(into bytes: inout MutableSpan<UInt8>) -> ReceiveResult {
    receive(into: &bytes, flags: 0)
  }

  /// Like `receive`, but leaves what it found to be received again.
  package borrowing func peek(into bytes: inout MutableSpan<UInt8>) -> ReceiveResult {
    receive(into: &bytes, flags: Int32(MSG_PEEK))
  }

  private borrowing func receive(into bytes: inout MutableSpan<UInt8>, flags: Int32) -> ReceiveResult {
    if bytes.isEmpty { fatalError("Socket.receive: no room") }
    while true {
      // The call writes at most `count` bytes of the span's own memory before it returns.
      let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
        unsafe recv(descriptor, buffer.baseAddress, buffer.count, flags)
      }
      if count > 0 { return .bytes(count) }
      if count == 0 { return .ended }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      default: return .failed(SystemError("recv"))
      }
    }
  }

  /// One read into `[gap][slot][gap][slot]…`: each slot of `slotBytes` has `gapBytes` free before it, so that a
  /// header can be put in front of what arrived without moving it. Returns the bytes received, gaps not counted. For one
  /// slot that is `recv`, which costs the kernel less than `readv`.
  package borrowing func receive(
    into bytes: inout MutableSpan<UInt8>, gapBytes: Int, slotBytes: Int, slots: Int
  ) -> ReceiveResult {
    let stride = gapBytes + slotBytes
    guard (1...Self.slotLimit).contains(slots), slots * stride <= bytes.count else {
      fatalError("Socket.receive: no room for the slots")
    }
    if slots == 1 {
      var slot = bytes._mutatingExtracting(gapBytes..<stride)
      return receive(into: &slot)
    }
    while true {
      // Each vector lies within the span: (index + 1) * stride <= bytes.count.
      let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer -> Int in
        guard let base = buffer.baseAddress else { return 0 }
        return unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 8) { vectors in
          for index in 0..<slots {
            unsafe vectors.initializeElement(
              at: index,
              to: iovec(iov_base: base + index * stride + gapBytes, iov_len: slotBytes))
          }
          return unsafe readv(descriptor, vectors.baseAddress, Int32(slots))
        }
      }
      if count > 0 { return .bytes(count) }
      if count == 0 { return .ended }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      default: return .failed(SystemError("readv"))
      }
    }
  }

  /// Slots that one `receive` fills at the most.
  package static let slotLimit = 8

  /// One `send` without SIGPIPE; EINTR is retried. `bytes` must not be empty.
  package borrowing func send(_ bytes: Span<UInt8>) -> SendResult {
    while true {
      let count = unsafe bytes.withUnsafeBufferPointer { buffer in
        unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 { return .bytes(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      default: return .failed(SystemError("send"))
      }
    }
  }

  /// Sends a FIN; what the peer sends can still be read.
  package borrowing func finishSending() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Makes the coming close send a RST instead of a FIN, so that no state lingers for a peer cut off.
  package borrowing func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
  }

  /// The outcome of a non-blocking connect, once the socket became writable; nil when it succeeded.
  package borrowing func connectFailure() -> SystemError? {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let failed = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0
    if failed { return SystemError("getsockopt") }
    return error == 0 ? nil : SystemError("connect", error)
  }

  package borrowing func set(_ option: SocketOption) {
    let (level, name, value) = option.arguments
    var number = value
    // A refused option leaves the kernel's default, which is safe for each of them.
    _ = unsafe setsockopt(descriptor, level, name, &number, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The local address of the socket, for PROXY headers and port 0 in tests.
  package borrowing func localAddress() -> SocketAddress? {
    var address = portcullis_address()
    guard unsafe portcullis_local_address(descriptor, &address) == 0 else { return nil }
    return SocketAddress(address)
  }
}

/// The options the gate sets, by their purpose.
package enum SocketOption: Sendable {
  /// Send small segments at once.
  case noDelay
  /// Let other listeners of this user share the port.
  case reusePort
  /// Bound what the kernel takes in for us.
  case receiveBuffer(bytes: Int32)
  /// Bound what the kernel keeps until the peer has acknowledged it; the kernel's own bookkeeping doubles the number.
  case sendBuffer(bytes: Int32)
  /// Report writable only while less than this waits unsent.
  case unsentLowWater(bytes: Int32)
  /// Probe a silent peer: after `idle` seconds, every `interval` seconds, `count` times.
  case keepAlive
  case keepAliveIdle(seconds: Int32)
  case keepAliveInterval(seconds: Int32)
  case keepAliveCount(Int32)

  fileprivate var arguments: (level: Int32, name: Int32, value: Int32) {
    switch self {
    case .noDelay: (Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    case .reusePort: (SOL_SOCKET, SO_REUSEPORT, 1)
    case .receiveBuffer(let bytes): (SOL_SOCKET, SO_RCVBUF, bytes)
    case .sendBuffer(let bytes): (SOL_SOCKET, SO_SNDBUF, bytes)
    case .unsentLowWater(let bytes): (Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, bytes)
    case .keepAlive: (SOL_SOCKET, SO_KEEPALIVE, 1)
    case .keepAliveIdle(let seconds): (Int32(IPPROTO_TCP), TCP_KEEPIDLE, seconds)
    case .keepAliveInterval(let seconds): (Int32(IPPROTO_TCP), TCP_KEEPINTVL, seconds)
    case .keepAliveCount(let count): (Int32(IPPROTO_TCP), TCP_KEEPCNT, count)
    }
  }
}
