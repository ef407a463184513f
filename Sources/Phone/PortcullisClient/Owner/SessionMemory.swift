/// What is remembered of a session between starts of the app: read once, then written whole at each change, one write at a
/// time.
actor SessionMemory {
  enum Recollection {
    /// Nil: there is nothing to come back to.
    case session(RememberedSession?)
    /// Nobody can say now whether there is one.
    case locked
    /// Written by a later version of the app, and left alone.
    case later
  }

  private let storage: any GameStorage
  private let entry: GameEntry
  private let log: GameLog
  private var saved: RememberedSession?
  private var isLoaded = false
  private var lastWrite: Task<Void, Never>?

  init(_ storage: any GameStorage, gate: String, name: String, log: GameLog) {
    self.storage = storage
    entry = GameEntry(.session(name), gate: gate)
    self.log = log
  }

  /// The session of an earlier start of the app.
  func load() async -> Recollection {
    if isLoaded { return .session(saved) }
    var found: RememberedSession?
    do {
      if let bytes = try await storage.load(entry) { found = try RememberedSession(saved: bytes) }
    } catch GameStorageError.locked {
      return isLoaded ? .session(saved) : .locked
    } catch RecordError.later {
      return .later
    } catch {
      log.write("the saved session cannot be read; a new one begins: \(error)")
    }
    // Who asked at the same time has had the answer.
    if isLoaded { return .session(saved) }
    isLoaded = true
    saved = found
    return .session(saved)
  }

  /// In the order of the calls, whatever the storage does in between.
  func remember(_ session: RememberedSession?) async {
    // What is there, and could not be read yet, is worth more than what is known without it.
    guard isLoaded, session != saved else { return }
    saved = session
    let write = Task { [previous = lastWrite, storage, entry, log] in
      await previous?.value
      do {
        try await storage.save(session?.bytes, as: entry)
      } catch {
        // What cannot be saved is lost with the process, which is no reason to stop playing.
        log.write("the session cannot be saved: \(error)")
      }
    }
    lastWrite = write
    await write.value
  }
}
