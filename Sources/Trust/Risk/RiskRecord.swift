/// Where and when a device was, as far as phone and address say so: of each device what was known last is kept.
package import Addresses
package import DeviceWire

package struct RiskRecord: Equatable, Sendable {
  /// Each part with the time of the request that it is from.
  package struct Part<Value: Equatable & Sendable>: Equatable, Sendable {
    package let value: Value
    package let at: UnixSeconds

    package init(_ value: Value, at time: UnixSeconds) {
      self.value = value
      at = time
    }
  }

  package private(set) var position: Part<Position>?
  /// Of the socket's address, as is the network.
  package private(set) var country: Part<CountryCode>?
  package private(set) var network: Part<UInt32>?

  package init(position: Part<Position>?, country: Part<CountryCode>?, network: Part<UInt32>?) {
    self.position = position
    self.country = country
    self.network = network
  }

  /// What one request says.
  package init(at time: UnixSeconds, position: Position?, place: Place) {
    self.init(
      position: position.map { Part($0, at: time) }, country: place.country.map { Part($0, at: time) },
      network: place.network.map { Part($0, at: time) })
  }

  /// What is not known now as it was known before: who leaves his position out once is not thereby free to be anywhere the
  /// next time.
  package func completed(by previous: RiskRecord) -> RiskRecord {
    RiskRecord(
      position: position ?? previous.position, country: country ?? previous.country,
      network: network ?? previous.network)
  }

  package func parts(where isWanted: (UnixSeconds) -> Bool) -> RiskRecord {
    var record = self
    if let position, !isWanted(position.at) { record.position = nil }
    if let country, !isWanted(country.at) { record.country = nil }
    if let network, !isWanted(network.at) { record.network = nil }
    return record
  }

  /// Of the part that is kept longest; nil where there is none.
  package var oldest: UnixSeconds? { [position?.at, country?.at, network?.at].compactMap { $0 }.min() }
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
