/// A loader that does what a test says: for what no server can bring about.
internal import Synchronization

package final class ScriptedLoader: Loader {
  /// Each of the closures may be called by any thread.
  package struct Script: Sendable {
    package var begin: @Sendable (URLSessionTask) -> Void
    package var send: @Sendable (URLSessionWebSocketTask.Message) -> (any Error)?
    package var ping: @Sendable (_ pong: @escaping @Sendable ((any Error)?) -> Void) -> Void
    package var close: @Sendable (URLSessionWebSocketTask, Int) -> Void

    package init(
      begin: @escaping @Sendable (URLSessionTask) -> Void,
      send: @escaping @Sendable (URLSessionWebSocketTask.Message) -> (any Error)? = { _ in nil },
      ping: @escaping @Sendable (@escaping @Sendable ((any Error)?) -> Void) -> Void = { $0(nil) },
      close: @escaping @Sendable (URLSessionWebSocketTask, Int) -> Void = { _, _ in }
    ) {
      self.begin = begin
      self.send = send
      self.ping = ping
      self.close = close
    }

    /// A WebSocket that opens at once.
    package static func opened(_ subprotocol: String? = nil) -> Script {
      Script(begin: { ($0 as? URLSessionWebSocketTask)?.open(subprotocol) })
    }

    /// A task that fails at once.
    package static func failing(_ code: URLError.Code) -> Script {
      Script(begin: { $0.finish(URLError(code)) })
    }
  }

  private let script: Script
  private let task = Mutex<URLSessionTask?>(nil)

  init(_ script: Script) {
    self.script = script
  }

  package func begin(_ task: URLSessionTask) {
    self.task.withLock { kept in kept = task }
    script.begin(task)
  }

  package func abandon() {
    task.withLock { task in task = nil }
  }

  package func send(
    _ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable ((any Error)?) -> Void
  ) {
    done(script.send(message))
  }

  package func ping(_ pong: @escaping @Sendable ((any Error)?) -> Void) { script.ping(pong) }

  package func close(_ code: Int, reason: [UInt8]) {
    guard let task = task.withLock({ $0 }) as? URLSessionWebSocketTask else { return }
    script.close(task, code)
  }

  package func goOn() {}
}
