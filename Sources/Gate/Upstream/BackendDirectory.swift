/// Where the game is: its addresses, resolved off the loops, and whether it was reachable a moment ago
/// (docs/protocol-connections.md, "The game's side").
package import Addresses
package import Sockets
internal import Synchronization
package import Time

package final class BackendDirectory: Sendable {
  /// How often a name is resolved again.
  static let resolutionInterval: Duration = .seconds(30)
  /// After a failed connect, admissions are refused for so long: the game is not called, and no challenge used up.
  static let quarantine: Duration = .seconds(1)

  private struct State: Sendable {
    /// In the order in which they are tried.
    var addresses: [SocketAddress]
    /// The last one that took a call when another was to be tried before it.
    var answered: SocketAddress?
    var failedAt: MonotonicTime?

    /// To the front with the one that answered, so that one that never does costs its share of the time once and not
    /// at each admission.
    mutating func order() {
      guard let answered, let index = addresses.firstIndex(of: answered), index > 0 else { return }
      addresses.remove(at: index)
      addresses.insert(answered, at: 0)
    }
  }

  package let target: BackendTarget
  private let state: Mutex<State>

  package init(target: BackendTarget) {
    self.target = target
    let addresses: [SocketAddress] =
      switch target {
      case .tcp(let host, let port):
        IPAddress(host).map { [.internet(Endpoint(address: $0, port: port))] } ?? []
      case .unix(let path): [.unix(path: path)]
      case .echo: []
      }
    state = Mutex(State(addresses: addresses))
  }

  /// The name to be resolved, if the target is one.
  package var name: (host: String, port: UInt16)? {
    guard case .tcp(let host, let port) = target, IPAddress(host) == nil else { return nil }
    return (host, port)
  }

  /// Asks the resolver once; on failure the last good answer stays, and the reason is returned.
  package func resolve() -> String? {
    guard let name else { return nil }
    do {
      let addresses = try NameResolver.resolve(name.host, port: name.port)
      if addresses.isEmpty { return "no address" }
      know(addresses)
      return nil
    } catch {
      return error.description
    }
  }

  /// What the name leads to from now on.
  package func know(_ addresses: [SocketAddress]) {
    state.withLock { state in
      state.addresses = addresses
      state.order()
    }
  }

  /// In the order in which they are to be tried.
  package var addresses: [SocketAddress] { state.withLock { $0.addresses } }

  /// Nil unless the last connect failed.
  package var failedAt: MonotonicTime? { state.withLock { $0.failedAt } }

  package func noteFailure(at now: MonotonicTime) {
    state.withLock { $0.failedAt = now }
  }

  /// - Parameter address: the one at which the game took the call.
  package func noteSuccess(at address: SocketAddress?) {
    state.withLock { state in
      if state.failedAt != nil { state.failedAt = nil }
      if let address, address != state.addresses.first {
        state.answered = address
        state.order()
      }
    }
  }

  /// Whether the last connect failed so recently that the next would not fare better.
  package func failedRecently(now: MonotonicTime) -> Bool {
    guard let failedAt = state.withLock({ $0.failedAt }) else { return false }
    return now - failedAt < Self.quarantine
  }
}
