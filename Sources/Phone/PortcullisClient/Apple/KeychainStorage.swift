/// What a session keeps in, and takes from, the Keychain: how to come back, and the simulator's certificate.
#if canImport(DeviceCheck)
  public import Foundation
  internal import Security

  /// Entries of the Keychain: to be read since the first unlock after a start of the phone, and on this phone alone, so
  /// that no backup takes a session to another one.
  public struct KeychainStorage: GameStorage {
    /// Asks nothing of the Keychain yet.
    public init() {}

    /// What was saved last. Before the first unlock after a start of the phone it throws `GameStorageError.locked`.
    public func load(_ entry: GameEntry) throws -> [UInt8]? {
      try Self.asking {
        if let bytes = try KeychainItem(entry.name).bytes() { return bytes }
        guard try EarlierEntry.split(for: entry.gate) else { return nil }
        return try KeychainItem(entry.name).bytes()
      }
    }

    /// Keeps it in place of what was there.
    public func save(_ bytes: [UInt8]?, as entry: GameEntry) throws {
      try Self.asking { try KeychainItem(entry.name).save(bytes) }
    }

    private static func asking<Value>(_ body: () throws -> Value) throws -> Value {
      do { return try body() } catch KeychainRefusal.locked {
        throw GameStorageError.locked
      } catch KeychainRefusal.status(let status) {
        throw KeychainError(status: status)
      }
    }
  }

  /// The one entry "session" of before, which held the key and the session of one gate.
  private enum EarlierEntry {
    private struct Saved: Decodable {
      var gate: String
      var keyID: String?
      var sessionID: String?
      var received: Int
      var handled: Int
    }

    /// Writes both parts of it before it goes.
    /// - Returns: whether there was one, for this gate.
    static func split(for gate: String) throws -> Bool {
      guard let bytes = try KeychainItem("session").bytes(),
        let saved = try? JSONDecoder().decode(Saved.self, from: Data(bytes)), saved.gate == gate
      else { return false }
      if let keyID = saved.keyID {
        let record = AppKeyRecord(key: AppKeyRecord.Key(id: keyID, stage: .registered))
        try begin(GameEntry(.key, gate: gate), with: record.bytes)
      }
      if let id = saved.sessionID {
        let session = RememberedSession(id: id, received: saved.received, handled: saved.handled)
        try begin(GameEntry(.session("main"), gate: gate), with: session.bytes)
      }
      try KeychainItem("session").save(nil)
      return true
    }

    /// What an interrupted split has written, and what has become of it since, stays.
    private static func begin(_ entry: GameEntry, with bytes: [UInt8]) throws {
      let item = KeychainItem(entry.name)
      if try item.bytes() == nil { try item.save(bytes) }
    }
  }

  /// What the Keychain did not do.
  public struct KeychainError: Error, Equatable, Sendable {
    /// One of Security's `errSec` codes.
    public let status: Int32
  }

  /// A certificate and its key: what lets the simulator in, which has no App Attest, to a gate that allows it.
  public struct ClientCertificate: Sendable {
    let credential: URLCredential

    /// Reads a PKCS #12 file; nil where there is none, or the password does not open it.
    /// - Parameters:
    ///   - file: such as `client.p12` in the bundle of a debug build.
    ///   - password: of the file.
    public init?(contentsOf file: URL?, password: String) {
      var items: CFArray?
      let options = [kSecImportExportPassphrase as String: password]
      guard let file, let bytes = try? Data(contentsOf: file),
        SecPKCS12Import(bytes as CFData, options as CFDictionary, &items) == errSecSuccess,
        let item = (items as? [[String: Any]])?.first, let identity = item[kSecImportItemIdentity as String]
      else { return nil }
      // What has this name is of this type, and Swift cannot ask for one of Core Foundation's.
      credential = URLCredential(
        identity: identity as! SecIdentity, certificates: nil, persistence: .forSession)
    }
  }
#endif
