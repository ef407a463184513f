/// Names of sixteen bytes for servers, devices, pairings, requests: lower-case UUIDs as text (RFC 9562 §4), 16 bytes in
/// messages.
internal import Bytes
package import Time

/// One of a kind: a device's name is no request's, so that no message can have one in the place of the other.
package struct Identifier<Kind>: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  /// Nil unless there are exactly 16 bytes.
  package init?(_ bytes: Span<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    for index in 0..<8 {
      words.0 = words.0 << 8 | UInt64(bytes[index])
      words.1 = words.1 << 8 | UInt64(bytes[index + 8])
    }
    (high, low) = words
  }

  package init?(_ bytes: [UInt8]) {
    self.init(bytes.span)
  }

  /// From the 36 characters of a UUID in lower case, of any version; else nil.
  package init?(_ text: String) {
    var digits = Array(text.utf8)
    guard digits.count == 36 else { return nil }
    for place in Self.hyphens.reversed() {
      guard digits.remove(at: place) == UInt8(ascii: "-") else { return nil }
    }
    guard let bytes = Hex.decode(digits.span) else { return nil }
    self.init(bytes.span)
  }

  /// A new one, of version 4 (RFC 9562 §5.4): 122 random bits.
  package init(random entropy: some Entropy) {
    var words: (UInt64, UInt64) = (0, 0)
    let bytes = entropy.bytes(16)
    for index in 0..<8 {
      words.0 = words.0 << 8 | UInt64(bytes[index])
      words.1 = words.1 << 8 | UInt64(bytes[index + 8])
    }
    high = words.0 & ~0xF000 | 0x4000
    low = words.1 & ~(0b11 << 62) | 0b10 << 62
  }

  package var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

  /// 36 characters.
  package var text: String {
    var digits = Array(Hex.encode(bytes.span).utf8)
    for place in Self.hyphens { digits.insert(UInt8(ascii: "-"), at: place) }
    return String(decoding: digits, as: UTF8.self)
  }

  package var description: String { text }

  /// Where the hyphens stand in the text.
  private static var hyphens: [Int] { [8, 13, 18, 23] }
}

/// The gate's own, made once.
package typealias ServerID = Identifier<ServerKind>
package typealias DeviceID = Identifier<DeviceKind>
package typealias PairingID = Identifier<PairingKind>
/// Of a request for an approval.
package typealias ApprovalID = Identifier<ApprovalKind>
package typealias LeaseID = Identifier<LeaseKind>
/// Of a challenge for a one-time code.
package typealias CodeChallengeID = Identifier<CodeChallengeKind>
package typealias DesktopID = Identifier<DesktopKind>

package enum ServerKind {}
package enum DeviceKind {}
package enum PairingKind {}
package enum ApprovalKind {}
package enum LeaseKind {}
package enum CodeChallengeKind {}
package enum DesktopKind {}

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
