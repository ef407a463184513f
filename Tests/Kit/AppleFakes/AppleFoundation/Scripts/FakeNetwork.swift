/// A phone's network: sockets, but for the hosts that a test has a script for, and whom its system trusts.
internal import Synchronization

package final class FakeNetwork: DevicePart {
  /// How often a pong calls its handler. URLSession has been seen to do it twice.
  package enum Pongs: Sendable { case once, twice }

  private struct State {
    var scripts: [String: ScriptedLoader.Script] = [:]
    var roots: [[UInt8]] = []
    var pongs = Pongs.once
    var codeOfLost = 0
    /// Kept until they are invalidated and over, as the system does.
    var sessions: [URLSession] = []
  }

  private let state = Mutex(State())

  package init() {}

  // MARK: For a test

  /// What tasks to this host do.
  package func script(_ host: String, _ script: ScriptedLoader.Script) {
    state.withLock { state in state.scripts[host] = script }
  }

  /// Certificates in DER of authorities that the phone trusts.
  package func trust(_ root: [UInt8]) {
    state.withLock { state in state.roots.append(root) }
  }

  package var pongs: Pongs {
    get { state.withLock(\.pongs) }
    set { state.withLock { state in state.pongs = newValue } }
  }

  /// The close code of a WebSocket that was lost without a Close: 0, or 1006 as some systems have it.
  package var codeOfLost: Int {
    get { state.withLock(\.codeOfLost) }
    set { state.withLock { state in state.codeOfLost = newValue } }
  }

  /// Of those that were made, the ones that are not both invalidated and over.
  package var livingSessions: Int {
    state.withLock(\.sessions.count)
  }

  // MARK: For the fakes

  package var roots: [[UInt8]] { state.withLock(\.roots) }

  func note(_ session: URLSession) {
    state.withLock { state in state.sessions.append(session) }
  }

  func forget(_ session: URLSession) {
    state.withLock { state in state.sessions.removeAll { $0 === session } }
  }

  func loader(for request: URLRequest) -> any Loader {
    let script = state.withLock { state in request.url?.host.flatMap { state.scripts[$0] } }
    return script.map { ScriptedLoader($0) } ?? SocketLoader(self)
  }
}
