/// A listening UNIX socket for processes of this machine: bound under umask 077, with the peer's user known.
internal import CLinux
internal import Glibc
package import System

package enum UnixListenerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Somebody answers there.
  case inUse
  /// Something else than a socket is at that path, and stays there.
  case notASocket
  case failed(SystemError)

  package var description: String {
    switch self {
    case .inUse: "another process listens there"
    case .notASocket: "something that is no socket is there"
    case .failed(let error): error.description
    }
  }
}

/// Any number of threads may accept from one.
package final class UnixListener: Sendable {
  private let socket: Socket
  private let path: String
  private let identity: Identity

  /// Which file the socket is, so that another's is never removed in its place.
  private struct Identity: Equatable {
    let device: UInt64
    let inode: UInt64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
    }
  }

  private init(socket: consuming Socket, path: String, identity: Identity) {
    self.socket = socket
    self.path = path
    self.identity = identity
  }

  /// Binds and listens. A socket at `path` that nobody answers is stale and is removed first, so the caller must own
  /// something that only one process can: for the gate that is the key store's lock.
  /// - Parameter group: whose members may connect beside the user; one that the process is in.
  package static func bind(_ path: String, group: UInt32? = nil) throws(UnixListenerError) -> UnixListener {
    let listener = try bindAlone(path)
    do throws(SystemError) {
      if let group { try listener.open(to: group) }
    } catch {
      listener.remove()
      throw .failed(error)
    }
    return listener
  }

  private static func bindAlone(_ path: String) throws(UnixListenerError) -> UnixListener {
    do throws(SystemError) {
      return try listen(path)
    } catch {
      guard error.number == EADDRINUSE else { throw .failed(error) }
    }
    try removeStale(path)
    do throws(SystemError) {
      return try listen(path)
    } catch {
      throw error.number == EADDRINUSE ? .inUse : .failed(error)
    }
  }

  private static func listen(_ path: String) throws(SystemError) -> UnixListener {
    var form = try SocketAddress.unix(path: path).kernelForm()
    let descriptor = portcullis_socket(AF_UNIX, Int32(SOCK_STREAM.rawValue))
    guard descriptor >= 0 else { throw SystemError("socket") }
    let socket = Socket(owning: descriptor)
    // The mask is the process's; what other threads create meanwhile is meant for this user alone as well.
    let mask = umask(0o077)
    defer { _ = umask(mask) }
    // The name gets the mode that the socket has (Linux, unix_bind): so it is right from the first moment, and no name has to
    // be looked up again, behind which the folder's owner could put something else.
    guard fchmod(descriptor, 0o600) == 0 else { throw SystemError("fchmod") }
    let isBound = unsafe portcullis_bind(descriptor, &form) == 0
    guard isBound else { throw SystemError("bind") }
    guard Glibc.listen(descriptor, 16) == 0 else { throw SystemError("listen") }
    guard let status = Self.status(of: path) else { throw SystemError("lstat") }
    return UnixListener(socket: socket, path: path, identity: Identity(status))
  }

  /// Only now, when the group is right, does the mode let it in. Links are not followed.
  private func open(to group: UInt32) throws(SystemError) {
    guard let status = Self.status(of: path) else { throw SystemError("lstat") }
    if status.st_gid != group, unsafe lchown(path, .max, group) != 0 { throw SystemError("lchown") }
    guard unsafe portcullis_chmod_same(path, identity.device, identity.inode, 0o660) == 0 else {
      throw SystemError("chmod")
    }
  }

  private static func removeStale(_ path: String) throws(UnixListenerError) {
    guard let status = status(of: path) else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
    do throws(SystemError) {
      // A full queue is somebody's too.
      _ = try Socket.connecting(to: .unix(path: path))
      throw SystemError("connect", EAGAIN)
    } catch {
      guard error.number == ECONNREFUSED else { throw error.number == EAGAIN ? .inUse : .failed(error) }
    }
    do throws(SystemError) {
      try FileNames.remove(path)
    } catch {
      if error.number != ENOENT { throw .failed(error) }
    }
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  /// Waits for a peer to accept.
  package func wait(bell: StopBell) -> Readiness {
    socket.wait(for: .reading, until: nil, bell: bell)
  }

  /// Reports peers to accept, as long as there are any.
  package func register(with poller: borrowing Poller, token: UInt64) throws(SystemError) {
    try poller.addReadable(socket, token: token)
  }

  package func unregister(from poller: borrowing Poller) {
    poller.remove(socket)
  }

  package enum Accepted: ~Copyable {
    case peer(Socket)
    /// Nobody was there any more, or another thread was quicker.
    case nobody
    case failed(SystemError)
  }

  package func accept() -> Accepted {
    var address = portcullis_address()
    let descriptor = unsafe portcullis_accept(socket.descriptor, &address)
    if descriptor >= 0 { return .peer(Socket(owning: descriptor)) }
    let error = SystemError("accept")
    return error.number == EAGAIN || error.number == ECONNABORTED || error.number == EINTR
      ? .nobody : .failed(error)
  }

  /// Takes the socket off the file system, unless another has taken its place there.
  package func remove() {
    guard let status = Self.status(of: path), Identity(status) == identity else { return }
    try? FileNames.remove(path)
  }
}

/// Who connected, as the kernel saw it then. The process may be another one by now, under the same number.
package struct UnixPeer: Equatable, Sendable {
  package let user: UInt32
  package let process: Int32

  package init(user: UInt32, process: Int32) {
    self.user = user
    self.process = process
  }
}

extension Socket {
  /// SO_PEERCRED; nil when it cannot be told.
  package borrowing func peer() -> UnixPeer? {
    var process: UInt32 = 0
    var user: UInt32 = 0
    guard unsafe portcullis_peer_credentials(descriptor, &process, &user) == 0 else { return nil }
    return UnixPeer(user: user, process: Int32(truncatingIfNeeded: process))
  }
}
