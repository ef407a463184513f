/// A registry without its thread: each call in a group of its own, on a real store, at a time that a test sets.
import Addresses
import Crypto
import DeviceWire
import System
import Time

@testable import Registry

final class RegistryHarness {
  let store: RegistryDatabase
  let server: ServerID
  let tokens: TokenMint
  let verifier = P256Verifier()
  var settings = RegistrySettings(publicURL: "https://gate.example")
  var clientVersion: String?
  var now = UnixTime(milliseconds: 1_771_286_400_000)
  /// Of all calls, in their order.
  var effects: [RegistryEffect] = []
  /// Who the last call was found to be by.
  private(set) var known: [AuditEntry.Member] = []
  private var folder: TemporaryFolder?
  private let devices = DeviceMemory()

  init() throws {
    let made = try TemporaryFolder(prefix: "portcullis-registry-")
    let path = made.path
    folder = consume made
    store = try RegistryDatabase(path + "/devices.db")
    server = ServerID(random: KernelEntropy())
    tokens = try TokenMint(store, at: now, verifier)
  }

  deinit {
    Statements.check(store)
    store.close()
    folder.take()?.remove()
  }

  @discardableResult
  func run(
    _ call: any RegistryCall, from origin: Origin = .address(IPAddress(v4: 0x0A00_0001)),
    wait: Duration? = nil
  ) throws -> Outcome {
    var transaction = Transaction(
      store: store, now: now, entropy: KernelEntropy(), settings: settings, server: server,
      verifier: verifier, tokens: tokens, devices: devices, origin: origin, wait: wait,
      clientVersion: clientVersion)
    try store.begin()
    try store.enter()
    let outcome: Outcome
    do throws(CallFailure) {
      outcome = try call.run(&transaction)
      known = transaction.known
    } catch {
      known = transaction.known
      try store.undo()
      try store.commit()
      guard case .refused(let refusal) = error else { throw error }
      return .reply(.refused(refusal))
    }
    try store.keep()
    try store.commit()
    effects += transaction.effects
    transaction.effects.forEach(devices.presence.hear)
    return outcome
  }

  /// What comes in pieces, to its end.
  func runWhole(
    _ call: any RegistryCall, from origin: Origin = .address(IPAddress(v4: 0x0A00_0001))
  ) throws -> Outcome {
    var outcome = try run(call, from: origin)
    while case .goOn(let next) = outcome { outcome = try run(next, from: origin) }
    return outcome
  }
}
