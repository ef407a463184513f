/// What a call works with: the store within its savepoint, the registry's time, and what is to be told once it is durable.
package import Crypto
package import DeviceWire
package import System

package struct Desk {
  package let store: any RegistryStore
  /// The registry's time: never earlier than it was for any call before.
  package let now: UnixTime
  package let entropy: any Entropy
  package let settings: RegistrySettings
  /// The gate's own name in all that is signed; made once, with the store.
  package let server: ServerID
  package let origin: Origin
  package let verifier: P256Verifier
  /// Issues and judges device tokens.
  package let tokens: TokenMint
  /// What the room of devices keeps in memory.
  let devices: DeviceMemory
  /// How long the request may wait for something to say; nil when it is to be answered at once.
  package let wait: Duration?
  /// In the order of their announcement.
  package private(set) var effects: [RegistryEffect] = []

  package init(
    store: any RegistryStore, now: UnixTime, entropy: any Entropy, settings: RegistrySettings,
    server: ServerID, verifier: P256Verifier, tokens: TokenMint, devices: DeviceMemory, origin: Origin,
    wait: Duration? = nil
  ) {
    self.tokens = tokens
    self.devices = devices
    self.verifier = verifier
    self.store = store
    self.now = now
    self.entropy = entropy
    self.settings = settings
    self.server = server
    self.origin = origin
    self.wait = wait
  }

  /// What the store says, its failures as those of the call.
  func storing<Value>(
    _ body: (any RegistryStore) throws(StoreFailure) -> Value
  ) throws(CallFailure) -> Value {
    do throws(StoreFailure) { return try body(store) } catch { throw .store(error) }
  }

  /// To be told when the call's group is on the disk; a revocation takes effect before.
  package mutating func announce(_ effect: RegistryEffect) {
    effects.append(effect)
  }
}
