/// What is told at the start, before anybody asks, and what is read anew later: keys of tokens, and what the door has to know.
internal import DeviceTokens
internal import DeviceWire
internal import Time

extension RegistryWorker {
  /// Before anybody is served: some milliseconds. Of more devices the rest is read between groups of requests, a million
  /// within seconds.
  private static let piecesOfStart = 8

  func announceStanding() throws(CallFailure) {
    let begin = clock.monotonic()
    listener.hear(.keySet(tokens.ring.jwks))
    let reading = DoorReading(from: settings.doorLevel)
    if let count = try reading.begin(store, tell: hear) {
      listener.note(.opened(devices: count, duration: clock.monotonic() - begin))
    }
    doorReading = reading
    for _ in 0..<Self.piecesOfStart where doorReading != nil { try readDoor() }
  }

  /// The next piece, if there is any.
  func goOnReadingDoor() {
    guard doorReading != nil, outage == nil else { return }
    // A stop of the gate does not wait for it.
    if isDraining { return doorReading = nil }
    do throws(CallFailure) { try readDoor() } catch { fail(error.ofStore, with: []) }
  }

  private func readDoor() throws(CallFailure) {
    guard var reading = doorReading else { return }
    doorReading = try reading.goOn(store, tell: hear) ? reading : nil
  }

  /// Throws away what is in memory beside the store, and reads it anew, as a start does; to be called between two groups.
  /// Long polls and what goes on are refused, and asked for again. Rates, presence and refusals that were not counted yet are
  /// forgotten, nothing else: revocations that were ordered hold until they are written, and so does what others have said
  /// that is in no store.
  func readAnew() throws(CallFailure) {
    refuse(waiters.end().map(\.0))
    refuse(ready.filter { $0.call.urgency != .revocation })
    ready.removeAll { $0.call.urgency != .revocation }
    devices = DeviceMemory(after: devices)
    storedTime = try Self.time(of: store)
    time = RegistryClock(clock, notBefore: storedTime.promised)
    try tokens.reload(from: store, at: time.now())
    dueAt = time.now()
    try announceStanding()
    published.publish(try store.numbers())
  }
}
