/// What a task's bytes come from: sockets, or a test's script.

package protocol Loader: AnyObject, Sendable {
  /// Called once, and returns at once. What is found out goes to `task`.
  func begin(_ task: URLSessionTask)
  /// The task has ended. May be called before `begin`, and by any thread.
  func abandon()

  // Of WebSockets alone.
  /// - Parameter done: called once, when it is on its way, or with the reason why it is not.
  func send(_ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable ((any Error)?) -> Void)
  func ping(_ pong: @escaping @Sendable ((any Error)?) -> Void)
  func close(_ code: Int, reason: [UInt8])
  /// A message has been taken, or is waited for.
  func goOn()
}
