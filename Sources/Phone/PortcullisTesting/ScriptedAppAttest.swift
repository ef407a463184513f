/// App Attest for tests: keys by numbers, each call noted, Apple's errors by plan.
public import PortcullisClient

/// Stands in for `AppAttestor`.
///
/// ```swift
/// let appAttest = ScriptedAppAttest()
/// appAttest.fail(nil, 4)  // `generateKey` works, then Apple's servers are not available
/// ```
public final class ScriptedAppAttest: DeviceAttestor {
  private struct State {
    var keys = 0
    var calls: [String] = []
    var hashes: [[UInt8]] = []
    var signed: [[UInt8]] = []
    var failures: [Int?] = []
    var isSupported = true
  }

  private let state = Locked(State())

  /// As an iPhone has it.
  public init() {}

  /// What was asked for, in its order: `make`, `attest 1`, `assert 1`, by the number of the key.
  public var calls: [String] { state.withLock { $0.calls } }
  /// The challenges that keys were attested over.
  public var hashes: [[UInt8]] { state.withLock { $0.hashes } }
  /// What assertions were made over: a challenge's 32 bytes, or a device's message.
  public var signed: [[UInt8]] { state.withLock { $0.signed } }
  /// How many keys were made.
  public var keys: Int { state.withLock { $0.keys } }

  /// Whether there is App Attest, as not in the simulator.
  public var isSupported: Bool {
    get { state.withLock { $0.isSupported } }
    set { state.withLock { $0.isSupported = newValue } }
  }

  /// - Parameter codes: raw values of `DCError.Code`, one for each call from now on; nil: the call works. So do all after
  ///   them.
  public func fail(_ codes: Int?...) { state.withLock { $0.failures = codes } }

  /// The identifier of a key by its number from 1: base64 of 32 bytes.
  public static func key(_ number: Int) -> String { TextEncoding.base64(bytes(of: number)) }

  /// The same in a URL.
  package static func query(_ number: Int) -> String { TextEncoding.base64URL(bytes(of: number)) }

  private static func bytes(of number: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: 31) + [UInt8(truncatingIfNeeded: number)]
  }

  private static func number(of keyID: String) -> Int { Int(TextEncoding.bytes(ofBase64: keyID)?.last ?? 0) }

  private func note(_ call: String) throws {
    let code = state.withLock { state -> Int? in
      state.calls.append(call)
      return state.failures.isEmpty ? nil : state.failures.removeFirst()
    }
    if let code { throw DeviceCheckFailure(code: code) }
  }

  /// `generateKey`.
  public func makeKey() async throws -> String {
    try note("make")
    return state.withLock { state in
      state.keys += 1
      return Self.key(state.keys)
    }
  }

  /// `attestKey`.
  public func attest(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
    state.withLock { $0.hashes.append(challenge) }
    try note("attest \(Self.number(of: keyID))")
    return [1, 2]
  }

  /// `generateAssertion`.
  public func assert(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
    try note("assert \(Self.number(of: keyID))")
    state.withLock { $0.signed.append(challenge) }
    return [3]
  }
}
