/// One attempt to connect, on a thread of its own: whoever waits for it has a keyboard to listen to.
internal import CLinux
internal import Glibc
internal import PortcullisClient
internal import System

/// Where a session's connections go, and by which key.
package struct SessionGate: Sendable {
  package var url: GateURL
  package var trust: ServerTrust
  package var certificate: ClientCertificate?
  package var timeout: Duration
  /// The file of the software enclave; nil: no assertion.
  package var statePath: String?
  /// The file of a software phone, which comes in by its device key to the gate that it belongs to; it knows that gate's
  /// address and keys itself.
  package var phonePath: String?
  /// Beside those of the session.
  package var fields: [GateResponse.Field]

  package init(
    url: GateURL, trust: ServerTrust, certificate: ClientCertificate? = nil, timeout: Duration = .seconds(10),
    statePath: String?, fields: [GateResponse.Field] = []
  ) {
    self.url = url
    self.trust = trust
    self.certificate = certificate
    self.timeout = timeout
    self.statePath = statePath
    self.fields = fields
  }

  fileprivate func connect(_ request: SessionRequest) throws(GateClientError) -> WebSocketClient {
    let fields = fields + request.fields.map { GateResponse.Field($0.name, $0.value) }
    let subprotocols = [SessionRequest.subprotocol]
    if let phonePath {
      return try SoftwarePhone.load(from: phonePath, trust: trust, timeout: timeout)
        .connect(fields: fields, subprotocols: subprotocols, offersDeflate: true)
    }
    let client = try GateClient(url, trust: trust, certificate: certificate, timeout: timeout)
    guard let statePath else {
      return try client.connectWebSocket(fields: fields, subprotocols: subprotocols, offersDeflate: true)
    }
    let enclave: SoftwareEnclave
    do { enclave = try .load(from: statePath) } catch { throw .device(error) }
    return try SimulatedApp(client, enclave)
      .connect(fields: fields, subprotocols: subprotocols, offersDeflate: true)
  }
}

final class ConnectionAttempt {
  typealias Outcome = Result<WebSocketClient, GateClientError>

  /// Made by one thread and used by another one afterwards, never by both.
  private struct Finished: @unchecked Sendable {
    let outcome: Outcome
  }

  private final class Bell: Sendable {
    let descriptor: OwnedDescriptor

    init() throws(SystemError) {
      let number = portcullis_eventfd()
      guard number >= 0 else { throw SystemError("eventfd") }
      descriptor = OwnedDescriptor(owning: number)
    }

    func ring() {
      var one: UInt64 = 1
      // An eventfd takes eight bytes at once.
      _ = unsafe write(descriptor.number, &one, 8)
    }
  }

  private let bell: Bell
  private let finished = Monitor<Finished?>(nil)
  private let thread: JoinHandle

  init(_ gate: SessionGate, _ request: SessionRequest) throws(SystemError) {
    let bell = try Bell()
    let finished = finished
    self.bell = bell
    thread = JoinHandle(
      try Thread(name: "connect") {
        let outcome = Result { () throws(GateClientError) in try gate.connect(request) }
        let value = Finished(outcome: outcome)
        finished.withLock { state, _ in state = value }
        bell.ring()
      })
  }

  /// Readable when the attempt has come to its end.
  var descriptor: Int32 { bell.descriptor.number }

  /// To be called once; waits where it is not at its end.
  consuming func outcome() -> Outcome {
    thread.join()
    guard let finished = finished.withLock({ state, _ in state }) else {
      fatalError("a thread that left no outcome")
    }
    return finished.outcome
  }
}
