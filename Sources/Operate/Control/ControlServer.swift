/// The control socket's server: a few threads of its own that accept, read a request, and answer (docs/operating.md,
/// "Control socket").
///
/// A client has so many seconds for each request, and so many clients are served at once; the others wait in
/// the kernel's queue. Nobody but the gate's own user and root is heard.
internal import Glibc
package import Sockets
internal import Synchronization
package import System

/// Does what is asked; called on the server's threads, several at once.
package protocol ControlHandler: Sendable {
  func answer(_ request: ControlRequest) -> ControlAnswer
}

package enum ControlServerError: Error, Equatable, Sendable, CustomStringConvertible {
  case listen(path: String, UnixListenerError)
  case failed(SystemError)

  package var description: String {
    switch self {
    case .listen(let path, .inUse):
      "CONTROL_SOCKET=\(path): another gate listens there; set another path, or stop that gate"
    case .listen(let path, .notASocket):
      "CONTROL_SOCKET=\(path) is no socket and is left alone; set another path, or remove the file"
    case .listen(let path, .failed(let error)):
      "CONTROL_SOCKET=\(path) cannot be bound: \(error); correct the path or the directory's owner and mode"
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

    package init() {}
  }

  private let listener: UnixListener
  private let handler: any ControlHandler
  private let limits: Limits
  private let isAllowed: @Sendable (UInt32?) -> Bool
  private let bell: StopBell
  private let threads = Mutex<[JoinHandle]>([])

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
  package static func bind(_ path: String) throws(ControlServerError) -> UnixListener {
    do throws(UnixListenerError) {
      return try UnixListener.bind(path)
    } catch {
      throw .listen(path: path, error)
    }
  }

  /// Serves what is bound, which is removed if that fails.
  ///
  /// - Parameter isAllowed: judges the peer's user, nil when the kernel does not tell.
  package static func start(
    on listener: UnixListener, handler: any ControlHandler, limits: Limits = Limits(),
    isAllowed: @escaping @Sendable (UInt32?) -> Bool = ControlServer.isOwnUserOrRoot
  ) throws(ControlServerError) -> ControlServer {
    do throws(SystemError) {
      let server = ControlServer(
        listener: listener, handler: handler, limits: limits, isAllowed: isAllowed, bell: try StopBell())
      do throws(SystemError) {
        for index in 0..<limits.threads {
          let handle = JoinHandle(try Thread(name: "control-\(index)") { server.serve() })
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

  /// The rule of docs/operating.md, "Control socket".
  package static func isOwnUserOrRoot(_ user: UInt32?) -> Bool {
    user == 0 || user == geteuid()
  }

  // MARK: One thread

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
    let isAllowed = isAllowed(socket.peerUser())
    var channel = LineChannel(socket, bell: bell)
    guard isAllowed else {
      let refusal = ControlRefusal(.notPermitted, "only the gate's own user and root may ask")
      _ = channel.write(ControlAnswer.refused(refusal).line, until: deadline)
      return
    }
    while true {
      let answer: ControlAnswer
      var goesOn = false
      switch channel.readLine(limit: limits.requestBytes, until: deadline) {
      case .line(let line):
        answer = reply(to: line)
        goesOn = true
      case .tooLong:
        answer = .refused(ControlRefusal(.tooLarge, "a request has at most \(limits.requestBytes) bytes"))
      case .timedOut:
        answer = .refused(
          ControlRefusal(.timeout, "no whole request within \(limits.time.wholeMilliseconds) ms"))
      case .stopped: answer = .refused(ControlRefusal(.shuttingDown, "the gate is stopping"))
      case .ended, .failed: return
      }
      guard channel.write(answer.line, until: deadline) == .sent, goesOn else { return }
    }
  }

  private func reply(to line: [UInt8]) -> ControlAnswer {
    do throws(ControlRefusal) {
      return handler.answer(try ControlRequest(parsing: line.span))
    } catch {
      return .refused(error)
    }
  }

  private var deadline: MonotonicTime { SystemClock().monotonic() + limits.time }
}
