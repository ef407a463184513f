/// Verification keys of devices that came lately, parsed once: a verify then costs a quarter less (SPEC §4, "Costs").
///
/// A table of fixed size for each loop; a newcomer takes the place of whoever was there. The point is compared, so
/// that a key registered anew is never judged by its old one.
internal import AppAttest
package import Bytes
package import Crypto

package final class HotKeys {
  private static let places = 1024
  private var keys = [P256VerificationKey?](repeating: nil, count: places)

  package init() {}

  /// Nil when the stored point is not on the curve.
  package func key(for keyID: KeyIdentifier, point: P256Point) -> P256VerificationKey? {
    // The identifier is a digest, so any of its bits will do.
    let place = (Int(keyID.digest[0]) << 8 | Int(keyID.digest[1])) % Self.places
    if let kept = keys[place], kept.point == point { return kept }
    guard let made = try? P256VerificationKey(point) else { return nil }
    keys[place] = made
    return made
  }
}
