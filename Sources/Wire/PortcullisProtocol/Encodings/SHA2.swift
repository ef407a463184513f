/// SHA-256 (FIPS 180-4 §6.2) and HMAC with it (RFC 2104), without a dependency: for messages and digits, of which a phone
/// makes a few a minute.

/// Hashes and authenticates bytes. What compares a secret in constant time is not here: a phone has nothing to compare.
public enum SHA2 {
  /// SHA-256 of the bytes.
  public static func hash(_ bytes: [UInt8]) -> Octets32 {
    var state: [UInt32] = [
      0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    var schedule = [UInt32](repeating: 0, count: 64)
    let whole = bytes.count / 64 * 64
    for start in stride(from: 0, to: whole, by: 64) { compress(bytes, start, &schedule, &state) }
    var end = Array(bytes[whole...]) + [0x80]
    while end.count % 64 != 56 { end.append(0) }
    end += UInt64(bytes.count &* 8).bigEndianBytes
    for start in stride(from: 0, to: end.count, by: 64) { compress(end, start, &schedule, &state) }
    return Octets32(
      checked: state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } })
  }

  /// HMAC-SHA-256.
  /// - Parameters:
  ///   - bytes: what is authenticated.
  ///   - key: of any length.
  public static func authenticate(_ bytes: [UInt8], key: [UInt8]) -> Octets32 {
    var block = key.count > 64 ? hash(key).bytes : key
    block += [UInt8](repeating: 0, count: 64 - block.count)
    let inner = hash(block.map { $0 ^ 0x36 } + bytes)
    return hash(block.map { $0 ^ 0x5C } + inner.bytes)
  }

  private static func compress(
    _ bytes: [UInt8], _ start: Int, _ schedule: inout [UInt32], _ state: inout [UInt32]
  ) {
    for index in 0..<16 {
      let place = start + index * 4
      schedule[index] =
        UInt32(bytes[place]) << 24 | UInt32(bytes[place + 1]) << 16 | UInt32(bytes[place + 2]) << 8
        | UInt32(bytes[place + 3])
    }
    for index in 16..<64 {
      let (early, late) = (schedule[index - 15], schedule[index - 2])
      let sigma0 = right(early, 7) ^ right(early, 18) ^ early >> 3
      let sigma1 = right(late, 17) ^ right(late, 19) ^ late >> 10
      schedule[index] = schedule[index - 16] &+ sigma0 &+ schedule[index - 7] &+ sigma1
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let sum1 = right(e, 6) ^ right(e, 11) ^ right(e, 25)
      let first = h &+ sum1 &+ (e & f ^ ~e & g) &+ constants[index] &+ schedule[index]
      let sum0 = right(a, 2) ^ right(a, 13) ^ right(a, 22)
      let second = sum0 &+ (a & b ^ a & c ^ b & c)
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] = state[index] &+ word }
  }

  private static func right(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }

  /// The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4 §4.2.2).
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
