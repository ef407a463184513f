/// How far, and how fast at least, a phone has come between two of its positions.
internal import DeviceWire
internal import Glibc

package struct Travel: Equatable, Sendable {
  /// Between the positions as they were told.
  package let distanceKm: Double
  /// What is left of it if both were as far off as they may be, towards each other.
  package let netKm: Double
  package let speedKmh: Double

  /// Nil where one of the positions is not known.
  package init?(from previous: RiskRecord, to current: RiskRecord) {
    guard let start = previous.position, let end = current.position else { return nil }
    distanceKm = Self.distance(start, end)
    netKm = max(0, distanceKm - Double(start.accuracy + end.accuracy) / 1000 - 2 * Self.roundingKm)
    // A clock that stood still or went back makes nobody faster than a minute does.
    let seconds = max(current.at - previous.at, Self.leastSeconds)
    speedKmh = netKm / (Double(seconds) / 3600)
  }

  /// Farther than a jump of a position, and faster than airliners.
  package var isImpossible: Bool { netKm > Self.farKm && speedKmh > Self.fastKmh }

  /// Half a tenth of a degree north, and as much east.
  private static let roundingKm = 8.0
  private static let leastSeconds: Int64 = 60
  private static let farKm = 500.0
  private static let fastKmh = 900.0
  /// The mean radius of the earth (IUGG).
  private static let radiusKm = 6371.0088

  /// Along the great circle, by the haversine formula.
  private static func distance(_ start: Position, _ end: Position) -> Double {
    func radians(_ tenths: Int64) -> Double { Double(tenths) / 10 * .pi / 180 }
    let latitude = sin(radians(end.latitude - start.latitude) / 2)
    let longitude = sin(radians(end.longitude - start.longitude) / 2)
    let haversine =
      latitude * latitude
      + cos(radians(start.latitude)) * cos(radians(end.latitude)) * longitude * longitude
    // Rounding may lead beyond 1 at antipodes.
    return 2 * radiusKm * asin(min(1, haversine.squareRoot()))
  }
}
