/// The seam between a session and the place where it is remembered between two starts of the app.

/// What an app has to know to come back to its session. What was typed is never part of it.
public struct SavedSession: Codable, Equatable, Sendable {
  /// The gate's authority, such as `play.example.com:8443`: what was saved for one gate is not told to another.
  public var gate: String
  /// The key that is registered with the gate. No secret, but of no use to anybody else either.
  public var keyID: String?
  /// What the session is resumed by, 22 characters: a secret. Nil where no session waits.
  public var sessionID: String?
  /// How many of the gate's messages the app has handled.
  public var received: Int
  /// How many of the app's messages the gate is known to have handled.
  public var handled: Int

  /// - Parameters:
  ///   - gate: its authority.
  ///   - keyID: of the key that is registered.
  ///   - sessionID: of the session that waits.
  ///   - received: messages of the gate's.
  ///   - handled: messages of the app's.
  public init(
    gate: String, keyID: String? = nil, sessionID: String? = nil, received: Int = 0, handled: Int = 0
  ) {
    self.gate = gate
    self.keyID = keyID
    self.sessionID = sessionID
    self.received = received
    self.handled = handled
  }
}

/// Why nothing comes out of a storage, though something may be there.
public enum SessionStorageError: Error, Equatable, Sendable {
  /// For now, as in the Keychain before the first unlock after a start of the phone. It is asked again later, and nothing is
  /// saved before it has answered.
  case locked
  /// For good. A new key and a new session take the place of what is there.
  case broken(String)
}

/// Where a `SavedSession` lies: in the Keychain (`KeychainStorage`), or in a file that others cannot read.
///
/// A session that cannot be saved is played all the same, and saved again whenever something of it changes. One that was
/// never saved is lost with the app's process.
public protocol SessionStorage: Sendable {
  /// What was saved last; nil: nothing. Throws `SessionStorageError.locked` where that cannot be said now; every other error
  /// counts as `broken`.
  func load() async throws -> SavedSession?

  /// Keeps it in place of what was there, whole or not at all.
  func save(_ session: SavedSession) async throws
}

/// Remembers for as long as the process lives.
public actor MemoryStorage: SessionStorage {
  private var session: SavedSession?

  /// - Parameter session: what is remembered from before.
  public init(_ session: SavedSession? = nil) {
    self.session = session
  }

  /// What was saved last.
  public func load() -> SavedSession? { session }

  /// Keeps it in place of what was there.
  public func save(_ session: SavedSession) {
    self.session = session
  }
}
