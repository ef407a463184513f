/// How strong a phone's radio signal has to be for a desktop, by the desktop's site: what `PRESENCE_RSSI_MIN` says.
package struct SignalStrengths: Equatable, Sendable {
  /// In dBm. Bluetooth measures from -127 to 20, and says 127 where it cannot (Bluetooth Core 5.4, Vol 4 Part E §7.5.4).
  package static let measured: ClosedRange<Int64> = -127...20
  static let unmeasured: Int64 = 127

  /// By the bytes of the site's name.
  private let minimums: [[UInt8]: Int64]

  package static let none = SignalStrengths([])

  /// - Parameter minimums: dBm by site; `*` is for all that are not named, and for services without one.
  package init(_ minimums: [(site: String, minimum: Int64)]) {
    // Not by the names themselves, of which two may be one to a dictionary.
    self.minimums = Dictionary(
      minimums.map { (Array($0.site.utf8), $0.minimum) }, uniquingKeysWith: { max($0, $1) })
  }

  /// Nil where nobody asks how strong it is.
  func minimum(at site: String?) -> Int64? {
    site.flatMap { minimums[Array($0.utf8)] } ?? minimums[[UInt8(ascii: "*")]]
  }

  /// - Parameter strength: nil for one that was not measured, which is too weak wherever a strength is asked for.
  func admit(_ strength: Int64?, at site: String?) -> Bool {
    guard let minimum = minimum(at: site) else { return true }
    return strength.map { $0 >= minimum } ?? false
  }
}
