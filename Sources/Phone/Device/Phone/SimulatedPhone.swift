/// A phone in software: the app's package with keys in a file, and this client's own TLS.
internal import Bytes
package import Dialing
internal import PortcullisClient
package import PortcullisDevice
internal import PortcullisProtocol
internal import System

package struct SimulatedPhone: Sendable {
  package let session: DeviceSession
  private let trust: ServerTrust
  private let timeout: Duration
  /// The file with its state and keys.
  package let path: String

  /// - Parameters:
  ///   - path: of the file with its state and keys, which need not be there yet.
  ///   - trust: for a phone that has no pins.
  ///   - voucher: vouches for the phone's keys.
  package init(at path: String, trust: ServerTrust, timeout: Duration, voucher: PhoneVoucher? = nil) {
    self.path = path
    self.trust = trust
    self.timeout = timeout
    let keys = OpenSSLKeys()
    let pins = DevicePins()
    session = DeviceSession(
      keys: keys, store: PhoneFile(path: path, keys: keys),
      transport: PhoneTransport(pins: pins, trust: trust, timeout: timeout), pins: pins,
      voucher: voucher.map { VoucherAtWork($0) })
  }

  /// What somebody waits for who has nothing else to do: on this thread.
  package static func wait<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(DeviceFailure) -> Value
  ) throws(DeviceFailure) -> Value {
    let outcome = Monitor<Result<Value, DeviceFailure>?>(nil)
    Task {
      let result: Result<Value, DeviceFailure>
      do throws(DeviceFailure) { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.withLock { outcome, wake in
        outcome = result
        wake.all()
      }
    }
    let found = outcome.wait { outcome -> Waited<Result<Value, DeviceFailure>> in
      outcome.map { .done($0) } ?? .wait
    }
    return try found.get()
  }

  // MARK: Play

  /// Comes in to play by a signature of the device key (docs/protocol.md, "Admission"). Any answer but 101 is
  /// `GateClientError.refused`.
  package func connect(
    fields: [GateResponse.Field] = [], subprotocols: [String] = [], offersDeflate: Bool = false
  ) throws(GateClientError) -> WebSocketClient {
    guard let record = try remembered(), record.device != nil else {
      throw .device(.unusable(path: path, reason: "this phone belongs to no gate: pair or enroll it"))
    }
    let pins = record.pins.map { ServerTrust.publicKeys($0.hashes.compactMap { Bytes32($0) }) }
    let client = try GateClient(
      GateURL(host: record.host, port: record.port), trust: pins ?? trust, timeout: timeout)
    let response = try client.get(DeviceCall.challenge(for: .device).path)
    guard response.status == 200 else { throw .refused(response) }
    guard let challenge = DeviceChallenge(json: response.body) else {
      throw .malformedResponse("not a challenge; does the gate have DEVICES_PATH set?")
    }
    let own: [(name: String, value: String)]
    do throws(DeviceFailure) {
      own = try Self.wait { [session] () async throws(DeviceFailure) in
        try await session.admission(for: challenge)
      }
    } catch {
      throw .device(.unusable(path: path, reason: error.detail))
    }
    return try client.connectWebSocket(
      fields: own.map { GateResponse.Field($0.name, $0.value) } + fields, subprotocols: subprotocols,
      offersDeflate: offersDeflate)
  }

  private func remembered() throws(GateClientError) -> DeviceRecord? {
    do throws(DeviceFailure) {
      return try Self.wait { [session] () async throws(DeviceFailure) in try await session.remembered }
    } catch {
      throw .device(.unusable(path: path, reason: error.detail))
    }
  }
}
