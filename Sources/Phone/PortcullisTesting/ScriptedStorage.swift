/// A storage for tests that is locked or broken when a test says so.
public import PortcullisClient

/// Remembers for as long as it lives; one that is given to the next session of a test is another start of the app.
public actor ScriptedStorage: GameStorage {
  private let kept = MemoryStorage()
  private var error: GameStorageError?
  private var refusesToSave = false
  /// How often something was looked for.
  public private(set) var looks = 0
  /// How often something was saved.
  public private(set) var saves = 0

  /// Empty, and neither locked nor broken.
  public init() {}

  /// As the Keychain before the first unlock after a start of the phone.
  public func lock() { error = .locked }

  /// For good.
  public func breakDown() { error = .broken("a test has broken it") }

  /// Nothing is saved any more.
  public func refuseToSave() { refusesToSave = true }

  /// All is well again.
  public func unlock() { (error, refusesToSave) = (nil, false) }

  /// What was saved last.
  public func load(_ entry: GameEntry) async throws -> [UInt8]? {
    looks += 1
    if let error { throw error }
    return await kept.load(entry)
  }

  /// Keeps it in place of what was there.
  public func save(_ bytes: [UInt8]?, as entry: GameEntry) async throws {
    if refusesToSave { throw GameStorageError.locked }
    saves += 1
    await kept.save(bytes, as: entry)
  }
}
