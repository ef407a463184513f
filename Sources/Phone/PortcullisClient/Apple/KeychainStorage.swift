/// What a session keeps in, and takes from, the Keychain: how to come back, and the simulator's certificate.
#if canImport(DeviceCheck)
  public import Foundation
  internal import Security

  /// One entry of the Keychain: to be read since the first unlock after a start of the phone, and on this phone alone, so
  /// that no backup takes a session to another one.
  public struct KeychainStorage: SessionStorage {
    private let entry: [String: any Sendable]

    /// - Parameter name: one for each session that an app has at a time.
    public init(name: String = "session") {
      entry = [
        kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: "portcullis",
        kSecAttrAccount as String: name, kSecUseDataProtectionKeychain as String: true,
      ]
    }

    /// What was saved last. Before the first unlock after a start of the phone it throws `SessionStorageError.locked`.
    public func load() throws -> SavedSession? {
      var found: CFTypeRef?
      let query = entry.merging([kSecReturnData as String: true]) { $1 }
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      let isLocked = [errSecInteractionNotAllowed, errSecNotAvailable].contains(status)
      if isLocked { throw SessionStorageError.locked }
      guard status == errSecSuccess, let data = found as? Data else { throw KeychainError(status: status) }
      return try JSONDecoder().decode(SavedSession.self, from: data)
    }

    /// Keeps it in place of what was there.
    public func save(_ session: SavedSession) throws {
      let data: [String: any Sendable] = [
        kSecValueData as String: try JSONEncoder().encode(session),
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String,
      ]
      var status = SecItemUpdate(entry as CFDictionary, data as CFDictionary)
      if status == errSecItemNotFound { status = SecItemAdd(entry.merging(data) { $1 } as CFDictionary, nil) }
      guard status == errSecSuccess else { throw KeychainError(status: status) }
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
