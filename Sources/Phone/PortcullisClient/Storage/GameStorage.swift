/// The seam between the package and the place where it remembers things between two starts of the app.

/// What one entry of a storage is about.
public struct GameEntry: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The App Attest key of this app at the gate: not secret, and of no use to anybody else.
    case key
    /// How the session of this name is resumed, which is a secret.
    case session(String)
  }

  /// The gate's authority, such as `play.example.com:8443`: what was saved for one gate is not told to another.
  public let gate: String
  package let kind: Kind

  package init(_ kind: Kind, gate: String) {
    self.gate = gate
    self.kind = kind
  }

  /// A name for it that no other entry has, such as `play.example.com:8443/session/main`.
  public var name: String {
    switch kind {
    case .key: "\(gate)/key"
    case .session(let name): "\(gate)/session/\(name)"
    }
  }
}

/// Why nothing comes out of a storage, though something may be there.
public enum GameStorageError: Error, Equatable, Sendable {
  /// For now, as in the Keychain before the first unlock after a start of the phone. It is asked again later, and nothing is
  /// saved before it has answered.
  case locked
  /// For good. A new key and a new session take the place of what is there.
  case broken(String)
}

/// Where keys and sessions are remembered: in the Keychain (`KeychainStorage`), or in files that others cannot read.
///
/// A session that cannot be saved is played all the same, and saved again when something of it changes. One that was
/// never saved is lost with the app's process.
public protocol GameStorage: Sendable {
  /// What was saved last for this entry; nil: nothing. Throws `GameStorageError.locked` where that cannot be said now; every
  /// other error counts as `broken`.
  func load(_ entry: GameEntry) async throws -> [UInt8]?

  /// Keeps it in place of what was there, whole or not at all.
  /// - Parameters:
  ///   - bytes: at most 16 KiB of JSON text; nil: nothing is to be there any more.
  ///   - entry: what they are about.
  func save(_ bytes: [UInt8]?, as entry: GameEntry) async throws
}

/// Remembers for as long as the process lives.
public actor MemoryStorage: GameStorage {
  private var entries: [GameEntry: [UInt8]]

  /// Empty.
  public init() {
    entries = [:]
  }

  package init(_ entries: [GameEntry: [UInt8]]) {
    self.entries = entries
  }

  /// What was saved last.
  public func load(_ entry: GameEntry) -> [UInt8]? { entries[entry] }

  /// Keeps it in place of what was there.
  public func save(_ bytes: [UInt8]?, as entry: GameEntry) { entries[entry] = bytes }
}
