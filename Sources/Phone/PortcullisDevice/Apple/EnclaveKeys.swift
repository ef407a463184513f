/// A device's keys on Apple's platforms: in the Secure Enclave, the approval key behind a face, a finger or a passcode.
#if canImport(LocalAuthentication) && canImport(Security)
  internal import Dispatch
  internal import Foundation
  internal import LocalAuthentication
  public import PortcullisProtocol
  internal import Security

  /// P-256 keys that cannot leave the phone, and that no backup takes along.
  ///
  /// One prompt is for one signature: each has a context of its own, which is of no use afterwards. If its task is cancelled the
  /// prompt goes. Signing waits for the person on a thread of its own.
  public struct EnclaveKeys: DeviceKeys {
    /// Who may use the approval key.
    public enum Presence: Sendable {
      /// A face or finger that was enrolled when the key was made. The key ends with any change of them.
      case biometryCurrentSet
      /// A face, a finger or the passcode.
      case userPresence
    }

    private let presence: Presence
    private let group: String?

    /// - Parameters:
    ///   - presence: who may use the approval key.
    ///   - accessGroup: where an extension of the app signs with the device key; nil: the app alone.
    public init(presence: Presence = .biometryCurrentSet, accessGroup: String? = nil) {
      self.presence = presence
      group = accessGroup
    }

    /// Makes a key under a new name.
    public func make(_ role: KeyRole, challenge: Octets32?) async throws -> KeyName {
      let name = KeyName(random: role)
      var error: Unmanaged<CFError>?
      guard let control = SecAccessControlCreateWithFlags(nil, protection(role), flags(role), &error) else {
        throw Self.failure(error)
      }
      var attributes = tag(name)
      attributes[kSecAttrIsPermanent as String] = true
      attributes[kSecAttrAccessControl as String] = control
      let parameters: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
        kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs as String: attributes,
      ]
      let faces = role == .approval ? Self.faces() : nil
      guard SecKeyCreateRandomKey(parameters as CFDictionary, &error) != nil else {
        throw Self.failure(error)
      }
      // By this a failure after a change of the faces is told from others.
      if let faces { try facesItem(name).save(faces) }
      return name
    }

    /// Its public half: 65 bytes.
    public func point(_ name: KeyName) async throws -> [UInt8] {
      guard let publicKey = SecKeyCopyPublicKey(try find(name)) else {
        throw DeviceKeyError.failed("the key has no public half")
      }
      var error: Unmanaged<CFError>?
      guard let point = SecKeyCopyExternalRepresentation(publicKey, &error) else { throw Self.failure(error) }
      return [UInt8](point as Data)
    }

    /// Signs; an approval key asks its person.
    public func sign(_ bytes: [UInt8], by name: KeyName, reason: String) async throws -> [UInt8] {
      let context = LAContext()
      // An empty one ends the app.
      context.localizedReason = reason.isEmpty ? "Sign" : reason
      context.touchIDAuthenticationAllowableReuseDuration = 0
      defer { context.invalidate() }
      let inUse = KeyInUse(key: try find(name, context), context: context)
      do {
        return try await withTaskCancellationHandler {
          try await inUse.sign(bytes)
        } onCancel: {
          inUse.context.invalidate()
        }
      } catch {
        // Whatever it was: a key of the faces of before can never sign again.
        if hasLostItsFaces(name) { throw DeviceKeyError.gone }
        throw error
      }
    }

    /// Forgets it.
    public func remove(_ name: KeyName) async throws {
      let status = SecItemDelete(query(name) as CFDictionary)
      guard status == errSecSuccess || status == errSecItemNotFound else {
        throw DeviceKeyError(code: Int(status))
      }
      try facesItem(name).save(nil)
    }

    // MARK: The Keychain

    private func find(_ name: KeyName, _ context: LAContext? = nil) throws -> SecKey {
      var query = query(name)
      query[kSecReturnRef as String] = true
      if let context { query[kSecUseAuthenticationContext as String] = context }
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      guard status == errSecSuccess, let found else { throw DeviceKeyError(code: Int(status)) }
      // What is asked for as a reference to a key is one, and Swift cannot ask for a type of Core Foundation's.
      return found as! SecKey
    }

    private func query(_ name: KeyName) -> [String: Any] {
      var query = tag(name)
      query[kSecClass as String] = kSecClassKey
      return query
    }

    private func tag(_ name: KeyName) -> [String: Any] {
      var tag: [String: Any] = [
        kSecAttrApplicationTag as String: Data(name.text.utf8), kSecUseDataProtectionKeychain as String: true,
      ]
      if let group { tag[kSecAttrAccessGroup as String] = group }
      return tag
    }

    private func protection(_ role: KeyRole) -> CFString {
      switch role {
      case .device: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
      case .approval: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
      }
    }

    private func flags(_ role: KeyRole) -> SecAccessControlCreateFlags {
      switch (role, presence) {
      case (.device, _): .privateKeyUsage
      case (.approval, .biometryCurrentSet): [.privateKeyUsage, .biometryCurrentSet]
      case (.approval, .userPresence): [.privateKeyUsage, .userPresence]
      }
    }

    // MARK: Faces

    private func facesItem(_ name: KeyName) -> KeychainItem {
      KeychainItem("faces/\(name.text)", group: group)
    }

    private static func faces() -> [UInt8]? { LAContext().evaluatedPolicyDomainState.map { [UInt8]($0) } }

    private func hasLostItsFaces(_ name: KeyName) -> Bool {
      guard presence == .biometryCurrentSet, let kept = try? facesItem(name).bytes() else { return false }
      return kept != Self.faces()
    }

    static func failure(_ error: Unmanaged<CFError>?) -> DeviceKeyError {
      guard let error = error?.takeRetainedValue() else { return .failed("no reason was given") }
      return DeviceKeyError(code: CFErrorGetCode(error))
    }
  }

  /// A key for one signature. It is touched by the thread that signs alone; its context may be invalidated from any.
  private struct KeyInUse: @unchecked Sendable {
    let key: SecKey
    let context: LAContext

    func sign(_ bytes: [UInt8]) async throws -> [UInt8] {
      try await withCheckedThrowingContinuation { continuation in
        // It waits while the prompt is shown: the pool of Swift's tasks has a thread for each processor, and no other.
        DispatchQueue(label: "portcullis.sign").async {
          var error: Unmanaged<CFError>?
          let signature = SecKeyCreateSignature(
            key, .ecdsaSignatureMessageX962SHA256, Data(bytes) as CFData, &error)
          if let signature {
            continuation.resume(returning: [UInt8](signature as Data))
          } else {
            continuation.resume(throwing: EnclaveKeys.failure(error))
          }
        }
      }
    }
  }

  extension DeviceKeyError {
    /// - Parameter code: of `LAError`, or one of Security's `errSec` codes; they have no number in common.
    init(code: Int) {
      switch code {
      // authenticationFailed, userCancel, userFallback, systemCancel, appCancel; errSecUserCanceled.
      case -4 ... -1, -9, -128: self = .cancelled
      // biometryLockout.
      case -8: self = .biometryLocked
      // passcodeNotSet, biometryNotAvailable, biometryNotEnrolled.
      case -7 ... -5: self = .biometryUnavailable
      // notInteractive; errSecInteractionNotAllowed.
      case -1004, -25308: self = .notInteractive
      // errSecItemNotFound.
      case -25300: self = .gone
      default: self = .failed("the keys of the phone say \(code)")
      }
    }
  }
#endif
