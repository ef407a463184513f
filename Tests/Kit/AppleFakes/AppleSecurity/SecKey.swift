/// Keys on P-256, in software where a phone has its Secure Enclave, and what it takes to use one.
internal import Foundation

@available(iOS 2.0, *)
open class CFError: Error, @unchecked Sendable {
  let domain: String
  let code: Int

  package init(domain: String = "NSOSStatusErrorDomain", code: Int) {
    self.domain = domain
    self.code = code
  }
}

@available(iOS 2.0, *)
public typealias CFIndex = Int
@available(iOS 2.0, *)
public typealias CFAllocator = Never

@available(iOS 2.0, *)
public func CFErrorGetCode(_ err: CFError) -> CFIndex { err.code }
@available(iOS 2.0, *)
public func CFErrorGetDomain(_ err: CFError) -> CFString { err.domain }

@available(iOS 8.0, *)
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  public static var userPresence: SecAccessControlCreateFlags { Self(rawValue: 1) }
  @available(iOS 11.3, *)
  public static var biometryAny: SecAccessControlCreateFlags { Self(rawValue: 2) }
  @available(iOS 11.3, *)
  public static var biometryCurrentSet: SecAccessControlCreateFlags { Self(rawValue: 8) }
  @available(iOS 9.0, *)
  public static var devicePasscode: SecAccessControlCreateFlags { Self(rawValue: 16) }
  @available(iOS 9.0, *)
  public static var privateKeyUsage: SecAccessControlCreateFlags { Self(rawValue: 1_073_741_824) }

  /// Whether somebody has to be there.
  var needsPerson: Bool {
    !isDisjoint(with: [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode])
  }
}

@available(iOS 8.0, *)
open class SecAccessControl {
  let flags: SecAccessControlCreateFlags

  init(_ flags: SecAccessControlCreateFlags) {
    self.flags = flags
  }
}

@available(iOS 8.0, *)
public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { SecAccessControl(flags) }

@available(iOS 10.0, *)
public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
  public let rawValue: CFString

  public init(rawValue: CFString) {
    self.rawValue = rawValue
  }

  public static var ecdsaSignatureMessageX962SHA256: SecKeyAlgorithm {
    Self(rawValue: "algid:sign:ECDSA:message-X962:SHA256")
  }
}

@available(iOS 2.0, *)
open class SecKey {
  /// As `SecKeyCopyExternalRepresentation` gives it of a public key.
  let encoding: [UInt8]
  /// Nil: a public key.
  let key: (any PrivateKey)?
  /// Who has shown a face for it.
  let context: (any AuthenticationContext)?

  init(_ key: any PrivateKey, context: (any AuthenticationContext)? = nil) {
    encoding = key.point
    self.key = key
    self.context = context
  }

  init(publicKey encoding: [UInt8]) {
    self.encoding = encoding
    key = nil
    context = nil
  }
}

@available(iOS 10.0, *)
public func SecKeyCreateRandomKey(
  _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
  let made = FakeKeychain.current.makeKey(parameters)
  guard let key = made.key else { return unsafe fail(error, CFError(code: Int(made.status))) }
  return SecKey(key)
}

@available(iOS 10.0, *)
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { SecKey(publicKey: key.encoding) }

/// A public key: on a curve the point as X9.63 has it, 65 bytes; of RSA as PKCS #1 has it. No private key leaves the enclave.
@available(iOS 10.0, *)
public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  guard key.key == nil else { return unsafe fail(error, CFError(code: -4)) }
  return Data(key.encoding)
}

/// Waits for the person, where the key is for one.
@available(iOS 10.0, *)
public func SecKeyCreateSignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  guard let own = key.key, algorithm == .ecdsaSignatureMessageX962SHA256 else {
    return unsafe fail(error, CFError(code: Int(errSecParam)))
  }
  if let refusal = own.refusal(key.context) { return unsafe fail(error, refusal) }
  return Data(own.sign([UInt8](dataToSign)))
}

/// The caller's variable, for as long as the call lasts.
private func fail<Result>(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ failure: CFError) -> Result?
{
  unsafe error?.pointee = Unmanaged.passRetained(failure)
  return nil
}

/// A key in the enclave.
protocol PrivateKey: AnyObject, Sendable {
  /// Of its public half, as X9.63 has it: 65 bytes.
  var point: [UInt8] { get }
  /// Asks the person, and waits; nil: it may be used.
  func refusal(_ context: (any AuthenticationContext)?) -> CFError?
  /// ECDSA over SHA-256 of the message, in DER.
  func sign(_ message: [UInt8]) -> [UInt8]
}
