/// Where and when a device was, as far as phone and address say so: of each device the last one is kept.
package import Addresses
package import DeviceWire

package struct RiskRecord: Equatable, Sendable {
  package let at: UnixSeconds
  package let position: Position?
  /// Of the socket's address.
  package let place: Place

  package init(at: UnixSeconds, position: Position?, place: Place) {
    self.at = at
    self.position = position
    self.place = place
  }

  /// What is not known now as it was known before: who leaves his position out once is not thereby free to be anywhere the
  /// next time. The time is that of the position, where there is one.
  package func completed(by previous: RiskRecord) -> RiskRecord {
    var place = place
    place.country = place.country ?? previous.place.country
    place.network = place.network ?? previous.place.network
    guard position == nil, let last = previous.position else {
      return RiskRecord(at: at, position: position, place: place)
    }
    return RiskRecord(at: previous.at, position: last, place: place)
  }
}

/// Where a phone says it is, in tenths of a degree: no better than some eight kilometres, and no better is wanted.
package struct Position: Hashable, Sendable {
  /// −900…900, and −1800…1800.
  package let latitude: Int64
  package let longitude: Int64
  /// How far off it may be, in metres.
  package let accuracy: Int64

  /// Beyond it a position may be anywhere, and is none.
  package static let leastAccuracy: Int64 = 100_000

  /// Nil where a half is missing or out of range, or it may be too far off.
  package init?(latitude: Int64?, longitude: Int64?, accuracy: Int64?) {
    guard let latitude, (-900...900).contains(latitude), let longitude, (-1800...1800).contains(longitude)
    else { return nil }
    let accuracy = accuracy ?? 0
    guard (0...Self.leastAccuracy).contains(accuracy) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
    self.accuracy = accuracy
  }

  package init?(_ signals: Signals) {
    self.init(latitude: signals.latitude, longitude: signals.longitude, accuracy: signals.accuracy)
  }
}
