/// What is told at the start, before anybody asks: keys of tokens, services, and the devices that the door has to know.
internal import DeviceTokens
internal import Bytes
internal import DeviceWire
internal import System
internal import Time

extension RegistryWorker {
  /// How far App Attest keys were read that go with devices, beside those of devices that come in.
  struct KeyReading {
    /// Of devices by their rows' numbers, and then of keys that devices had before; nil when the devices are through.
    var place: Int64? = 0
    var former: KeyIdentifier?
    /// From which on devices come in.
    let level: Level?
    var count = 0
  }

  private static let rowsOfPiece: Int64 = 4096
  /// Before anybody is served: some milliseconds. Of more devices the rest is read between groups of requests, a million
  /// within seconds.
  private static let piecesOfStart = 8
  /// Tables that grew to this size have left holes behind.
  private static let largeCount = 10_000

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
    if let level = settings.doorLevel {
      var count = 0
      try store.forEachActiveDevice(from: level) { device in
        listener.hear(.deviceActive(device))
        count += 1
      }
      if count > Self.largeCount { FreeMemory.giveBack() }
      listener.note(.opened(devices: count, duration: clock.monotonic() - begin))
    }
    keyReading = KeyReading(level: settings.doorLevel)
    for _ in 0..<Self.piecesOfStart where keyReading != nil { try readKeys() }
  }

  /// The next piece, if there is any.
  func goOnReadingKeys() {
    guard keyReading != nil, outage == nil else { return }
    // Whoever stops the gate does not wait for it.
    if isDraining { return keyReading = nil }
    do throws(StoreFailure) { try readKeys() } catch { fail(error, with: []) }
  }

  private func readKeys() throws(StoreFailure) {
    guard var reading = keyReading else { return }
    if let place = reading.place {
      reading.place = try store.forEachKeyHolder(after: place, rows: Self.rowsOfPiece, below: reading.level) {
        hear($0)
        reading.count += 1
      }
      return keyReading = reading
    }
    let former = try store.forEachFormerKey(after: reading.former, limit: Int(Self.rowsOfPiece)) {
      hear(.formerKey($0, of: $1, subject: $2))
      reading.count += 1
    }
    reading.former = former
    keyReading = former == nil ? nil : reading
    if former != nil { return }
    if reading.count > Self.largeCount { FreeMemory.giveBack() }
  }
}
