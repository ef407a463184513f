/// The seam between a device and its private keys, which stay in hardware where there is any.
public import PortcullisProtocol

/// By what a key is found again. It is new at each making, and so nothing is ever written over.
public struct KeyName: Hashable, Sendable, CustomStringConvertible {
  /// As the holder of the key made it.
  public let text: String

  /// - Parameter text: as the holder of the key made it.
  public init(_ text: String) {
    self.text = text
  }

  /// A new one: `device-` or `approval-`, and 128 random bits.
  /// - Parameter role: of the key.
  public init(random role: KeyRole) {
    let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    text = "\(role.rawValue)-\(ByteText.hex(bytes))"
  }

  /// As `text`.
  public var description: String { text }
}

/// What a key is for.
public enum KeyRole: String, Sendable {
  /// Signs without asking anybody.
  case device
  /// Signs when its person has said so: at each signature once.
  case approval
}

/// Makes P-256 keys and signs with them. `load` never makes: a key that is not found is gone.
public protocol DeviceKeys: Sendable {
  /// Makes a key under a new name.
  /// - Parameters:
  ///   - role: what it is for.
  ///   - challenge: what Android attests it for; others pass it over.
  func make(_ role: KeyRole, challenge: Octets32?) async throws -> KeyName

  /// Its public half.
  /// - Returns: 65 bytes, uncompressed (X9.63).
  func point(_ name: KeyName) async throws -> [UInt8]

  /// ECDSA over SHA-256 of the bytes.
  /// - Parameters:
  ///   - bytes: a whole message.
  ///   - name: of the key.
  ///   - reason: what its person is shown where one is asked.
  /// - Returns: DER.
  func sign(_ bytes: [UInt8], by name: KeyName, reason: String) async throws -> [UInt8]

  /// Forgets it; one that is not there is passed over.
  func remove(_ name: KeyName) async throws
}

/// Why a key does nothing. Any other error that is thrown counts as `failed`.
public enum DeviceKeyError: Error, Equatable, Sendable {
  /// It is not there, or cannot be used ever again.
  case gone
  /// The person does not want to, or the prompt went away.
  case cancelled
  /// Too many wrong faces or fingers.
  case biometryLocked
  /// No face, finger or passcode.
  case biometryUnavailable
  /// Nobody can be asked now.
  case notInteractive
  /// Something else.
  case failed(String)
}

/// A device's public keys.
public struct DevicePoints: Hashable, Sendable {
  /// 65 bytes, uncompressed (X9.63).
  public let device: [UInt8]
  /// Nil where there is no approval key.
  public let approval: [UInt8]?

  /// Nil for what is no point in that form, and where both are one: such an approval would prove no person.
  public init?(device: [UInt8], approval: [UInt8]?) {
    guard Self.isPoint(device), approval.map(Self.isPoint) ?? true, device != approval else { return nil }
    self.device = device
    self.approval = approval
  }

  private static func isPoint(_ bytes: [UInt8]) -> Bool { bytes.count == 65 && bytes.first == 4 }

  /// As messages name them.
  public var hashes: KeyHashes {
    KeyHashes(
      device: SHA2.hash(Self.spki(device)), approval: approval.map { SHA2.hash(Self.spki($0)) })
  }

  /// `SubjectPublicKeyInfo` of a point on P-256: 91 bytes (RFC 5480 §2).
  public static func spki(_ point: [UInt8]) -> [UInt8] {
    [
      0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
      0x48,
      0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ] + point
  }
}
