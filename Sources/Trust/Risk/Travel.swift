/// How far, and how fast at least, a phone has come between two of its positions.
internal import DeviceWire
internal import Glibc

package struct Travel: Equatable, Sendable {
  /// Between the positions as they were told.
  package let distanceKm: Double
  /// What is left of it if both were as far off as they may be, towards each other.
  package let netKm: Double
  package let speedKmh: Double

  package init(from start: RiskRecord.Part<Position>, to end: RiskRecord.Part<Position>) {
    distanceKm = Self.distance(start.value, end.value)
    let inaccuracy = Double(start.value.accuracy + end.value.accuracy) / 1000
    netKm = max(0, distanceKm - inaccuracy - 2 * Self.roundingKm)
    // A clock that stood still or went back makes nobody faster than a minute does.
    let seconds = max(end.at - start.at, Self.leastSeconds)
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
