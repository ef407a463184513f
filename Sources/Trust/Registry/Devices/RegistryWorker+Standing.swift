/// What is told at the start, before anybody asks: keys of tokens, services, and the devices that come in at the door.
internal import DeviceTokens
internal import System

extension RegistryWorker {
  func announceStanding() throws(StoreFailure) {
    let begin = clock.monotonic()
    listener.hear(.keySet(tokens.ring.jwks))
    do throws(CallFailure) {
      listener.hear(.services(try ServiceToken.holding(store)))
    } catch {
      throw error.ofStore
    }
    // Keys have a store of their own, which may not have been written before this process's predecessor died.
    try store.forEachRevokedKey { listener.hear(.attestedKeyRevoked($0)) }
    guard let level = settings.doorLevel else { return }
    var count = 0
    try store.forEachActiveDevice(from: level) { device in
      listener.hear(.deviceActive(device))
      count += 1
    }
    // Tables that grew to this size have left holes behind.
    if count > 10_000 { FreeMemory.giveBack() }
    listener.note(.opened(devices: count, duration: clock.monotonic() - begin))
  }
}
