/// A session of the app's package, over this client's sockets and by its credentials.
internal import Bytes
package import Dialing
internal import FoundationEssentials
package import PortcullisClient

extension SessionGate {
  /// - Parameters:
  ///   - path: where the session is remembered for another start of the program; nil: nowhere.
  ///   - making: how a key is made where the gate knows none; nil: none is.
  package func session(
    client: ClientDescription, options: GameOptions, remembering path: String? = nil,
    making: KeyMaking? = nil
  ) throws(GateClientError) -> GameSession {
    let text = "wss://\(url.authority)\(url.path)"
    guard let gate = URL(string: text) else { throw .invalidURL(text) }
    let transport = SocketTransport(self)
    let storage: any GameStorage = path.map { SessionFile(path: $0) } ?? MemoryStorage()
    var key: AppKey?
    if case .appKey(let enclave) = credential {
      // A key that this program makes is remembered like an app's.
      var keyStorage = storage
      if making == nil {
        do throws(DeviceError) {
          keyStorage = EnclaveKeyStorage(keyID: try SoftwareEnclave.load(from: enclave).keyIdentifier.base64)
        } catch {
          throw .device(error)
        }
      }
      key = AppKey(
        gate: gate, transport: transport, attestor: EnclaveAttestor(path: enclave, making: making),
        storage: keyStorage, registers: making != nil, log: options.log)
    }
    return GameSession(
      gate: gate, client: client, transport: transport, key: key, storage: storage, options: options)
  }
}
