/// Chance that can be repeated, for spreading attempts and not for secrets (Steele, Lea and Flood, 2014).
struct SplitMix64: Sendable {
  var state: UInt64

  /// From 0 to 1.
  mutating func fraction() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return Double((value ^ value >> 31) >> 11) / Double(1 << 53)
  }
}
