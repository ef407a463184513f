/// A key that another gate had registered: where it comes from, and how long it is good (docs/key-store.md,
/// "Imported keys").
package import Bytes
package import Time

/// Whose files keys are taken from.
package enum KeySource: String, CaseIterable, Sendable {
  /// mud-web-proxy 4.
  case goldfinch

  /// In the journal, where 0 is none.
  var number: UInt8 {
    switch self {
    case .goldfinch: 1
    }
  }

  init?(number: UInt8) {
    guard let source = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = source
  }
}

package struct KeyImport: Equatable, Sendable {
  package let source: KeySource
  let untilSecond: UInt32

  /// - Parameter time: rounded down to a second, and held within what 32 bits of them can say (until 2106).
  package init(from source: KeySource, until time: UnixTime) {
    self.init(from: source, untilSecond: UInt32(clamping: time.milliseconds / 1000))
  }

  init(from source: KeySource, untilSecond: UInt32) {
    self.source = source
    self.untilSecond = untilSecond
  }

  /// Until then the key is good; from then on it is unknown.
  package var goodUntil: UnixTime { UnixTime(milliseconds: Int64(untilSecond) * 1000) }

  /// They stay for so long after their end, so that a clock that was wrong for some hours costs nobody his key.
  package static let grace: Duration = .seconds(86_400)

  /// Imported keys were not judged as this gate judges, so they give way to registrations before long.
  package static let longestDays = 90
}

/// What another gate's file says of a key. That its identifier is the hash of its point is the caller's to know.
package struct ForeignKey: Equatable, Sendable {
  package let identifier: KeyIdentifier
  package let publicKey: P256Point
  package let signCount: UInt32
  package let registeredAt: UnixTime
  package let lastUsedAt: UnixTime?

  package init(
    identifier: KeyIdentifier, publicKey: P256Point, signCount: UInt32, registeredAt: UnixTime,
    lastUsedAt: UnixTime? = nil
  ) {
    self.identifier = identifier
    self.publicKey = publicKey
    self.signCount = signCount
    self.registeredAt = registeredAt
    self.lastUsedAt = lastUsedAt
  }
}
