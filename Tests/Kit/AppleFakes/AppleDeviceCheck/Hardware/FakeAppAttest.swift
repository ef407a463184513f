/// What App Attest does on a phone: keys in software, attested by a test's authority, and errors that a test has asked for.
internal import Bytes
internal import Crypto
package import Device
internal import Foundation
internal import Identity
internal import Synchronization
internal import Time

package final class FakeAppAttest: DevicePart, AppAttestHardware {
  package enum Call: Hashable, Sendable { case generateKey, attestKey, generateAssertion }

  /// What an app has asked for.
  package struct Request: Equatable, Sendable {
    package let call: Call
    package let keyID: String?
    /// 32 bytes; nil where none belongs to the call.
    package let hash: [UInt8]?

    package init(_ call: Call, _ keyID: String? = nil, _ hash: [UInt8]? = nil) {
      (self.call, self.keyID, self.hash) = (call, keyID, hash)
    }
  }

  private struct Key {
    let enclave: SoftwareEnclave
    var isAttested = false
  }

  /// The enclaves are touched inside of the lock alone.
  private struct State: @unchecked Sendable {
    var isSupported = true
    var appID = "ABCDE12345.org.example.game"
    var authority: TestAttestationAuthority?
    var keys: [String: Key] = [:]
    var requests: [Request] = []
    var failures: [Call: [any Error]] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  // MARK: For a test

  package var isSupported: Bool {
    get { state.withLock(\.isSupported) }
    set { state.withLock { state in state.isSupported = newValue } }
  }

  /// Who attests, and for which app.
  package func begin(_ authority: TestAttestationAuthority, appID: String) {
    state.withLock { state in (state.authority, state.appID) = (authority, appID) }
  }

  /// The next calls of this kind fail by these DCErrors, and do nothing.
  package func fail(_ call: Call, _ codes: Int...) { fail(call, with: codes.map { DCError($0) }) }

  package func fail(_ call: Call, with errors: [any Error]) {
    state.withLock { state in state.failures[call, default: []] += errors }
  }

  /// All keys are gone, as after the app was deleted.
  package func reinstall() { state.withLock { state in state.keys = [:] } }

  package var requests: [Request] { state.withLock(\.requests) }
  package func count(_ call: Call) -> Int { requests.count { $0.call == call } }

  // MARK: For the service

  func generateKey() throws -> String {
    try perform(.generateKey, nil, nil) { state in
      let enclave = try SoftwareEnclave.generate(appID: state.appID, environment: .development)
      let keyID = enclave.keyIdentifier.base64
      state.keys[keyID] = Key(enclave: enclave)
      return keyID
    }
  }

  /// Once for each key.
  func attest(_ keyID: String, _ hash: [UInt8]) throws -> [UInt8] {
    try perform(.attestKey, keyID, hash) { state in
      guard let digest = Bytes32(hash) else { throw DCError(2) }
      guard let key = state.keys[keyID], !key.isAttested else { throw DCError(3) }
      guard let authority = state.authority else { throw DCError(4) }
      state.keys[keyID]?.isAttested = true
      return try key.enclave.attest(clientDataHash: digest, by: authority, now: SystemClock().wall())
    }
  }

  func assert(_ keyID: String, _ hash: [UInt8]) throws -> [UInt8] {
    try perform(.generateAssertion, keyID, hash) { state in
      guard let digest = Bytes32(hash) else { throw DCError(2) }
      guard let key = state.keys[keyID], key.isAttested else { throw DCError(3) }
      return try key.enclave.assert(clientDataHash: digest)
    }
  }

  private func perform<Result: Sendable>(
    _ call: Call, _ keyID: String?, _ hash: [UInt8]?, _ body: (inout State) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      state.requests.append(Request(call, keyID, hash))
      if !state.isSupported { throw DCError(1) }
      if state.failures[call]?.isEmpty == false, let error = state.failures[call]?.removeFirst() {
        throw error
      }
      return try body(&state)
    }
  }
}
