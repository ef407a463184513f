/// What is remembered between starts of the app: read once, then written whole at each change, one write at a time.
actor SessionMemory {
  private let storage: any SessionStorage
  private var saved: SavedSession
  private var isLoaded = false
  private var lastWrite: Task<Void, Never>?

  init(_ storage: any SessionStorage, gate: String) {
    self.storage = storage
    saved = SavedSession(gate: gate)
  }

  /// The session of an earlier start of the app, and the key.
  func load() async {
    guard !isLoaded else { return }
    isLoaded = true
    // What cannot be read is not there: a new key and a new session take its place.
    guard let found = try? await storage.load(), found.gate == saved.gate else { return }
    saved = found
  }

  var keyID: String? { saved.keyID }

  var session: RememberedSession? {
    saved.sessionID.map { RememberedSession(id: $0, received: saved.received, handled: saved.handled) }
  }

  func remember(keyID: String) async {
    saved.keyID = keyID
    await write()
  }

  func remember(_ session: RememberedSession?) async {
    saved.sessionID = session?.id
    saved.received = session?.received ?? 0
    saved.handled = session?.handled ?? 0
    await write()
  }

  /// In the order of the calls, whatever the storage does in between.
  private func write() async {
    let write = Task { [previous = lastWrite, storage, saved] in
      await previous?.value
      // What cannot be saved is lost with the process, which is no reason to stop playing.
      try? await storage.save(saved)
    }
    lastWrite = write
    await write.value
  }
}
