/// Where a key lives, as Android tells it (`SecurityLevel` of KeyMint), software left out: that is no hardware.

package enum SecurityLevel: String, CaseIterable, Comparable, Sendable {
  /// A trusted environment beside the system, on the same processor.
  case tee
  /// A processor of its own.
  case strongbox

  /// As the description of a key has it.
  init?(number: UInt64) {
    switch number {
    case 1: self = .tee
    case 2: self = .strongbox
    default: return nil
    }
  }

  package static func < (left: Self, right: Self) -> Bool { left == .tee && right == .strongbox }
}
