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
      if let bytes = try Self.bytes(of: entry.name) { return bytes }
      guard try EarlierEntry.split(for: entry.gate) else { return nil }
      return try Self.bytes(of: entry.name)
    }

    /// Keeps it in place of what was there.
    public func save(_ bytes: [UInt8]?, as entry: GameEntry) throws {
      try Self.save(bytes, as: entry.name)
    }

    static func item(_ name: String) -> [String: any Sendable] {
      [
        kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: "portcullis",
        kSecAttrAccount as String: name, kSecUseDataProtectionKeychain as String: true,
      ]
    }

    static func bytes(of name: String) throws -> [UInt8]? {
      var found: CFTypeRef?
      let query = item(name).merging([kSecReturnData as String: true]) { $1 }
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      let isLocked = [errSecInteractionNotAllowed, errSecNotAvailable].contains(status)
      if isLocked { throw GameStorageError.locked }
      guard status == errSecSuccess, let data = found as? Data else { throw KeychainError(status: status) }
      return [UInt8](data)
    }

    static func save(_ bytes: [UInt8]?, as name: String) throws {
      let item = item(name)
      guard let bytes else {
        let status = SecItemDelete(item as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
          throw KeychainError(status: status)
        }
        return
      }
      let data: [String: any Sendable] = [
        kSecValueData as String: Data(bytes),
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
      ]
      var status = SecItemUpdate(item as CFDictionary, data as CFDictionary)
      if status == errSecItemNotFound { status = SecItemAdd(item.merging(data) { $1 } as CFDictionary, nil) }
      // An extension of the app was faster between the two.
      if status == errSecDuplicateItem { status = SecItemUpdate(item as CFDictionary, data as CFDictionary) }
      guard status == errSecSuccess else { throw KeychainError(status: status) }
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
      guard let bytes = try KeychainStorage.bytes(of: "session"),
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
      try KeychainStorage.save(nil, as: "session")
      return true
    }

    /// What an interrupted split has written, and what has become of it since, stays.
    private static func begin(_ entry: GameEntry, with bytes: [UInt8]) throws {
      if try KeychainStorage.bytes(of: entry.name) == nil { try KeychainStorage.save(bytes, as: entry.name) }
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
