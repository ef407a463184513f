/// App Attest in memory: keys by numbers, each call noted, errors by plan.
@testable import PortcullisClient

/// The calls are `make`, `attest 1`, `assert 1`, by the number of the key; `hashes` are the challenges that were attested.
final class MemoryAttestor: DeviceAttestor {
  private struct State {
    var keys = 0
    var calls: [String] = []
    var hashes: [[UInt8]] = []
    var failures: [Int?] = []
    var isSupported = true
  }

  private let state = Locked(State())

  var calls: [String] { state.withLock { $0.calls } }
  var hashes: [[UInt8]] { state.withLock { $0.hashes } }
  var keys: Int { state.withLock { $0.keys } }
  var isSupported: Bool {
    get { state.withLock { $0.isSupported } }
    set { state.withLock { $0.isSupported = newValue } }
  }

  /// - Parameter codes: of DCError, one for each call from now on; nil: none.
  func fail(_ codes: Int?...) { state.withLock { $0.failures = codes } }

  /// Base64 of 32 bytes, the last of which is the number.
  static func key(_ number: Int) -> String {
    TextEncoding.base64([UInt8](repeating: 0, count: 31) + [UInt8(number)])
  }

  /// The same in a URL.
  static func query(_ number: Int) -> String {
    TextEncoding.base64URL([UInt8](repeating: 0, count: 31) + [UInt8(number)])
  }

  private static func number(of keyID: String) -> Int { Int(TextEncoding.bytes(ofBase64: keyID)?.last ?? 0) }

  private func note(_ call: String) throws {
    let code = state.withLock { state -> Int? in
      state.calls.append(call)
      return state.failures.isEmpty ? nil : state.failures.removeFirst()
    }
    if let code { throw DeviceCheckFailure(code: code) }
  }

  func makeKey() async throws -> String {
    try note("make")
    return state.withLock { state in
      state.keys += 1
      return Self.key(state.keys)
    }
  }

  func attest(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
    state.withLock { $0.hashes.append(challenge) }
    try note("attest \(Self.number(of: keyID))")
    return [1, 2]
  }

  func assert(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
    try note("assert \(Self.number(of: keyID))")
    return [3]
  }
}
