/// The control socket's server: a few threads of its own that accept, read a request, and answer (docs/running.md,
/// "Control socket").
///
/// A client has so many seconds for each request, and so many clients are served at once; the others wait in
/// the kernel's queue. Nobody but the gate's own user and root is heard.
internal import Glibc
package import Sockets
internal import Synchronization
package import System
internal import Time

/// Does what is asked; called on the server's threads, several at once.
package protocol ControlHandler: Sendable {
  /// - Parameter peer: nil when the kernel does not tell.
  func answer(_ request: ControlRequest, from peer: UnixPeer?) -> ControlAnswer
}

package enum ControlServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// `setting` is the one that names the socket.
  case listen(setting: String, path: String, UnixListenerError)
  case failed(SystemError)

  package var description: String {
    switch self {
    case .listen(let setting, let path, .inUse):
      "\(setting)=\(path): another gate listens there; set another path, or stop that gate"
    case .listen(let setting, let path, .notASocket):
      "\(setting)=\(path) is no socket and is left alone; set another path, or remove the file"
    case .listen(let setting, let path, .failed(let error)):
      "\(setting)=\(path) cannot be bound: \(error); correct the path or the directory's owner and mode"
    case .failed(let error): "the control socket cannot be served: \(error)"
    }
  }
}

package final class ControlServer: Sendable {
  package struct Limits: Sendable {
    /// Of a request, its line feed not counted.
    package var requestBytes = 1 << 20
    /// From the accept, or from the answer before, to the request's last byte; and again for its answer to
    /// leave.
    package var time: Duration = .seconds(5)
    /// Clients served at once: one that waits for sessions to end must not hold up a health check.
    package var threads = 4
    /// Of one user, so that nobody among many takes all threads; nil where there is but one user.
    package var threadsPerUser: Int?
    /// Whether a client may go on asking after an answer.
    package var keepsClients = true
    /// Who may ask, for those who may not.
    package var audience = "the gate's own user and root"

    package init() {}
  }

  private let listener: UnixListener
  private let handler: any ControlHandler
  private let limits: Limits
  private let isAllowed: @Sendable (UInt32?) -> Bool
  private let bell: StopBell
  private let threads = Mutex<[JoinHandle]>([])
  /// Clients that are being served, by their user.
  private let served = Mutex<[UInt32?: Int]>([:])

  private init(
    listener: UnixListener, handler: any ControlHandler, limits: Limits,
    isAllowed: @escaping @Sendable (UInt32?) -> Bool,
    bell: StopBell
  ) {
    self.listener = listener
    self.handler = handler
    self.limits = limits
    self.isAllowed = isAllowed
    self.bell = bell
  }

  /// Binds and serves.
  package static func start(
    path: String, handler: any ControlHandler, limits: Limits = Limits(),
    isAllowed: @escaping @Sendable (UInt32?) -> Bool = ControlServer.isOwnUserOrRoot
  ) throws(ControlServerError) -> ControlServer {
    try start(on: bind(path), handler: handler, limits: limits, isAllowed: isAllowed)
  }

  /// Clients that come now wait until somebody serves. The caller owns the key store's lock, which makes a socket
  /// that nobody answers a stale one.
  /// - Parameters:
  ///   - setting: the one that names the path, for what goes wrong.
  ///   - group: whose members may connect as well.
  package static func bind(
    _ path: String, setting: String = "CONTROL_SOCKET", group: UInt32? = nil
  ) throws(ControlServerError) -> UnixListener {
    do throws(UnixListenerError) {
      return try UnixListener.bind(path, group: group)
    } catch {
      throw .listen(setting: setting, path: path, error)
    }
  }

  /// Serves what is bound, which is removed if that fails.
  ///
  /// - Parameter isAllowed: judges the peer's user, nil when the kernel does not tell.
  package static func start(
    on listener: UnixListener, handler: any ControlHandler, limits: Limits = Limits(),
    name: String = "control",
    isAllowed: @escaping @Sendable (UInt32?) -> Bool = ControlServer.isOwnUserOrRoot
  ) throws(ControlServerError) -> ControlServer {
    do throws(SystemError) {
      let server = ControlServer(
        listener: listener, handler: handler, limits: limits, isAllowed: isAllowed, bell: try StopBell())
      do throws(SystemError) {
        for index in 0..<limits.threads {
          let handle = JoinHandle(try Thread(name: "\(name)-\(index)") { server.serve() })
          server.threads.withLock { $0.append(handle) }
        }
      } catch {
        server.stop()
        throw error
      }
      return server
    } catch {
      listener.remove()
      throw .failed(error)
    }
  }

  /// No request is taken any more; answers that are being worked on are still given.
  package func beginStop() {
    bell.ring()
  }

  /// Cuts clients off between their requests, waits for answers that are being worked on, and removes the
  /// socket.
  package func stop() {
    beginStop()
    let running = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    for thread in running { thread.join() }
    listener.remove()
  }

  /// The rule of docs/running.md, "Control socket".
  package static func isOwnUserOrRoot(_ user: UInt32?) -> Bool {
    user == 0 || user == geteuid()
  }

  // MARK: One thread

  /// So many bytes a socket takes in which nothing else waits to be read.
  private static var answerAtOnce: Int { 4096 }

  private func serve() {
    while listener.wait(bell: bell) == .ready {
      switch listener.accept() {
      case .peer(let socket): converse(socket)
      case .nobody: break
      case .failed:
        // Out of descriptors, most likely: the peer stays in the queue.
        if bell.wait(.milliseconds(100)) { return }
      }
    }
  }

  private func converse(_ socket: consuming Socket) {
    let peer = socket.peer()
    var channel = LineChannel(socket, bell: bell)
    if let refusal = refusal(of: peer) {
      _ = channel.write(ControlAnswer.refused(refusal).line, until: deadline)
      return
    }
    var isServed = true
    defer { if isServed { leave(peer) } }
    while true {
      let answer: ControlAnswer
      var goesOn = false
      switch channel.readLine(limit: limits.requestBytes, until: deadline) {
      case .line(let line):
        answer = reply(to: line, from: peer)
        goesOn = limits.keepsClients
      case .tooLong:
        answer = .refused(ControlRefusal(.tooLarge, "a request has at most \(limits.requestBytes) bytes"))
      case .timedOut:
        answer = .refused(
          ControlRefusal(.timeout, "no whole request within \(limits.time.wholeMilliseconds) ms"))
      case .stopped: answer = .refused(ControlRefusal(.shuttingDown, "the gate is stopping"))
      case .ended, .failed: return
      }
      let line = answer.line
      // A client that has this answer may ask again at once, and finds the place free. A longer one may wait for its reader.
      if !goesOn, line.count <= Self.answerAtOnce {
        isServed = false
        leave(peer)
      }
      guard channel.write(line, until: deadline) == .sent, goesOn else { return }
    }
  }

  /// Nil for who is taken in, and leaves again.
  private func refusal(of peer: UnixPeer?) -> ControlRefusal? {
    guard isAllowed(peer?.user) else {
      return ControlRefusal(.notPermitted, "only \(limits.audience) may ask")
    }
    let isTaken = served.withLock { served in
      guard served[peer?.user, default: 0] < limits.threadsPerUser ?? .max else { return false }
      served[peer?.user, default: 0] += 1
      return true
    }
    return isTaken ? nil : ControlRefusal(.busy, "this user has other requests here; try again")
  }

  private func leave(_ peer: UnixPeer?) {
    served.withLock { served in
      let left = served[peer?.user, default: 1] - 1
      served[peer?.user] = left > 0 ? left : nil
    }
  }

  private func reply(to line: [UInt8], from peer: UnixPeer?) -> ControlAnswer {
    do throws(ControlRefusal) {
      return handler.answer(try ControlRequest(parsing: line.span), from: peer)
    } catch {
      return .refused(error)
    }
  }

  private var deadline: MonotonicTime { SystemClock().monotonic() + limits.time }
}
