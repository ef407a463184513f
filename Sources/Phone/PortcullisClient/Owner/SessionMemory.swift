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

  /// The session of an earlier start of the app, and the key. False where nobody can say now whether there is one.
  func load() async -> Bool {
    if isLoaded { return true }
    var found: SavedSession?
    do {
      found = try await storage.load()
    } catch SessionStorageError.locked {
      return isLoaded
    } catch {
      // It will never be read: a new key and a new session take its place.
    }
    // Who asked at the same time has had the answer.
    if isLoaded { return true }
    isLoaded = true
    if let found, found.gate == saved.gate { saved = found }
    return true
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
    // What is there, and could not be read yet, is worth more than what is known without it.
    guard isLoaded else { return }
    let write = Task { [previous = lastWrite, storage, saved] in
      await previous?.value
      // What cannot be saved is lost with the process, which is no reason to stop playing.
      try? await storage.save(saved)
    }
    lastWrite = write
    await write.value
  }
}
