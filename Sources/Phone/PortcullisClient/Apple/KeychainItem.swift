/// One item of the Keychain, with bytes in it. `PortcullisClient` has it, and `PortcullisDevice` by a link: neither shows it.
#if canImport(Security)
  internal import Foundation
  internal import Security

  /// To be read since the first unlock after a start of the phone, and on this phone alone, so that no backup takes it to
  /// another one.
  struct KeychainItem {
    private let item: [String: any Sendable]

    /// - Parameters:
    ///   - name: of the item.
    ///   - group: of apps that have it together, such as an app and its extensions; nil: this one alone.
    init(_ name: String, group: String? = nil) {
      var item: [String: any Sendable] = [
        kSecClass as String: kSecClassGenericPassword as String, kSecAttrService as String: "portcullis",
        kSecAttrAccount as String: name, kSecUseDataProtectionKeychain as String: true,
      ]
      if let group { item[kSecAttrAccessGroup as String] = group }
      self.item = item
    }

    /// What was saved last. Throws `KeychainRefusal`.
    func bytes() throws -> [UInt8]? {
      var found: CFTypeRef?
      let query = item.merging([kSecReturnData as String: true]) { $1 }
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      let isLocked = [errSecInteractionNotAllowed, errSecNotAvailable].contains(status)
      if isLocked { throw KeychainRefusal.locked }
      guard status == errSecSuccess, let data = found as? Data else { throw KeychainRefusal.status(status) }
      return [UInt8](data)
    }

    /// Keeps it in place of what was there; nil: nothing is to be there.
    func save(_ bytes: [UInt8]?) throws {
      guard let bytes else {
        let status = SecItemDelete(item as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
          throw KeychainRefusal.status(status)
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
      guard status == errSecSuccess else { throw KeychainRefusal.status(status) }
    }
  }

  /// Why the Keychain gives nothing, or takes nothing.
  enum KeychainRefusal: Error, Equatable {
    /// Before the first unlock after a start of the phone.
    case locked
    /// One of Security's `errSec` codes.
    case status(Int32)
  }
#endif
