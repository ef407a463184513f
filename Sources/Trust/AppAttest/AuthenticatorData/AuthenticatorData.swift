/// The fixed head of authenticator data (WebAuthn Level 3 §6.1): 37 bytes, and what follows them.
internal import Bytes

struct AuthenticatorData: Sendable {
  let rpIDHash: Bytes32
  let flags: UInt8
  let signCount: UInt32

  static let headBytes = 37

  /// Nil when `bytes` are fewer than 37.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= Self.headBytes, let rpIDHash = Bytes32(bytes.extracting(0..<32)) else { return nil }
    self.rpIDHash = rpIDHash
    flags = bytes[32]
    var count: UInt32 = 0
    for index in 33..<37 { count = count << 8 | UInt32(bytes[index]) }
    signCount = count
  }

  /// AT. In assertions Apple sets it although there is no credential data.
  var announcesCredential: Bool { flags & 0x40 != 0 }
  /// ED. Apple's guide of 2026 and macOS 27 leave it clear although there are extensions.
  var announcesExtensions: Bool { flags & 0x80 != 0 }

  /// What the rest after head and credential data says of the launch, or nil when it must not be there like
  /// that.
  func launchInformation(_ rest: Span<UInt8>) -> LaunchInformation? {
    if rest.isEmpty { return announcesExtensions ? nil : LaunchInformation.none }
    return LaunchInformation(extensions: rest, isFlagged: announcesExtensions)
  }
}
