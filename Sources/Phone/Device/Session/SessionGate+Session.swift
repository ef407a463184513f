/// A session of the app's package, over this client's sockets and by its credentials.
package import Dialing
internal import FoundationEssentials
package import PortcullisClient

extension SessionGate {
  /// - Parameters:
  ///   - path: where the session is remembered for another start of the program; nil: nowhere.
  ///   - making: how a key is made where the gate knows none; nil: none is.
  ///   - failure: gets to know why attempts come to nothing.
  package func session(
    client: ClientDescription, options: GameOptions, remembering path: String? = nil,
    making: KeyMaking? = nil, noting failure: LastFailure
  ) throws(GateClientError) -> GameSession {
    let text = "wss://\(url.authority)\(url.path)"
    guard let gate = URL(string: text) else { throw .invalidURL(text) }
    var attestor: EnclaveAttestor?
    var storage: any SessionStorage = MemoryStorage()
    if let path { storage = SessionFile(path: path) }
    if case .appKey(let enclave) = credential {
      attestor = EnclaveAttestor(path: enclave, making: making, failure: failure)
      // A key that this program makes is remembered like an app's.
      if making == nil {
        storage = EnclaveStorage(
          storage: storage, gate: SavedSession.authority(of: gate), enclavePath: enclave, failure: failure)
      }
    }
    return GameSession(
      gate: gate, client: client, transport: SocketTransport(self, noting: failure), attestor: attestor,
      storage: storage, options: options)
  }
}
