/// Where a session's connections go, and by what they are let in.
package import Dialing
internal import System

/// What a client of the gate shows of itself, beside a certificate.
package enum Credential: Equatable, Sendable {
  case none
  /// The key of the software enclave in this file.
  case appKey(path: String)
  /// The device key of the simulated phone in this file, which knows its gate's address and keys itself.
  case phone(path: String)
}

package struct SessionGate: Sendable {
  package var url: GateURL
  package var trust: ServerTrust
  package var certificate: ClientCertificate?
  package var timeout: Duration
  package var credential: Credential
  /// Of the upgrade, beside those of whoever connects.
  package var fields: [GateResponse.Field]

  package init(
    url: GateURL, trust: ServerTrust, certificate: ClientCertificate? = nil, timeout: Duration = .seconds(10),
    credential: Credential, fields: [GateResponse.Field] = []
  ) {
    self.url = url
    self.trust = trust
    self.certificate = certificate
    self.timeout = timeout
    self.credential = credential
    self.fields = fields
  }

  package func client() throws(GateClientError) -> GateClient {
    try GateClient(url, trust: trust, certificate: certificate, timeout: timeout)
  }

  /// An open WebSocket; waits for it.
  package func connect(
    fields more: [GateResponse.Field] = [], subprotocols: [String] = [], offersDeflate: Bool = false
  ) throws(GateClientError) -> WebSocketClient {
    let fields = more + fields
    switch credential {
    case .none:
      return try client().connectWebSocket(
        fields: fields, subprotocols: subprotocols, offersDeflate: offersDeflate)
    case .appKey(let path):
      let enclave: SoftwareEnclave
      do { enclave = try .load(from: path) } catch { throw .device(error) }
      return try SimulatedApp(client(), enclave)
        .connect(fields: fields, subprotocols: subprotocols, offersDeflate: offersDeflate)
    case .phone(let path):
      return try SimulatedPhone(at: path, trust: trust, timeout: timeout)
        .connect(fields: fields, subprotocols: subprotocols, offersDeflate: offersDeflate)
    }
  }
}
