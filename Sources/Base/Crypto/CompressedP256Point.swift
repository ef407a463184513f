/// A point on P-256 by its x and the sign of its y (SEC 1 §2.3.3): half as long, for tables of many.
package import Bytes

package struct CompressedP256Point: Hashable, Sendable {
  package let x: Bytes32
  package let isYOdd: Bool

  package init(x: Bytes32, isYOdd: Bool) {
    self.x = x
    self.isYOdd = isYOdd
  }

  package init(_ point: P256Point) {
    self.init(x: point.x, isYOdd: point.y.array[31] & 1 == 1)
  }

  /// 33 bytes.
  var encoded: [UInt8] {
    var bytes: [UInt8] = [isYOdd ? 0x03 : 0x02]
    x.append(to: &bytes)
    return bytes
  }
}
