/// Names of sixteen bytes for servers, devices, pairings, requests: lower-case UUIDs as text (RFC 9562 §4), 16 bytes in
/// messages.

/// One of a kind: a device's name is no request's, so that no message can have one in the place of the other.
public struct Identifier<Kind>: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  /// From two numbers, the first byte the highest of the first.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Nil unless there are exactly 16 bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    for index in 0..<8 {
      words.0 = words.0 << 8 | UInt64(bytes[index])
      words.1 = words.1 << 8 | UInt64(bytes[index + 8])
    }
    (high, low) = words
  }

  /// From the 36 characters of a UUID in lower case, of any version; else nil.
  public init?(_ text: String) {
    guard text.utf8.count == 36 else { return nil }
    var digits = Array(text.utf8)
    for place in Self.hyphens.reversed() {
      guard digits.remove(at: place) == UInt8(ascii: "-") else { return nil }
    }
    guard let bytes = ByteText.bytes(hex: String(decoding: digits, as: UTF8.self)) else { return nil }
    self.init(bytes)
  }

  /// 16 bytes.
  public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

  /// 36 characters.
  public var text: String {
    var digits = Array(ByteText.hex(bytes).utf8)
    for place in Self.hyphens { digits.insert(UInt8(ascii: "-"), at: place) }
    return String(decoding: digits, as: UTF8.self)
  }

  /// As `text`.
  public var description: String { text }

  /// Where the hyphens stand in the text.
  private static var hyphens: [Int] { [8, 13, 18, 23] }
}

/// The gate's own, made once.
public typealias ServerID = Identifier<ServerKind>
/// Of a phone that belongs to a gate.
public typealias DeviceID = Identifier<DeviceKind>
/// Of what a QR code begins.
public typealias PairingID = Identifier<PairingKind>
/// Of a request for an approval.
public typealias ApprovalID = Identifier<ApprovalKind>
/// Of what an approval lends.
public typealias LeaseID = Identifier<LeaseKind>
/// Of a challenge for a one-time code.
public typealias CodeChallengeID = Identifier<CodeChallengeKind>
/// Of what asks a phone whether it is near.
public typealias DesktopID = Identifier<DesktopKind>

/// What a `ServerID` is the name of.
public enum ServerKind {}
/// What a `DeviceID` is the name of.
public enum DeviceKind {}
/// What a `PairingID` is the name of.
public enum PairingKind {}
/// What an `ApprovalID` is the name of.
public enum ApprovalKind {}
/// What a `LeaseID` is the name of.
public enum LeaseKind {}
/// What a `CodeChallengeID` is the name of.
public enum CodeChallengeKind {}
/// What a `DesktopID` is the name of.
public enum DesktopKind {}

extension UInt64 {
  /// Eight bytes, the highest first.
  package var bigEndianBytes: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: self >> UInt64(56 - 8 * $0)) }
  }

  /// Nil for another number of bytes.
  package init?(bigEndian bytes: some Collection<UInt8>) {
    guard bytes.count == 8 else { return nil }
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
