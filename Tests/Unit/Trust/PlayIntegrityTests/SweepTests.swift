/// A good token with each byte changed, left out or cut off: none is accepted.
import Bytes
import PlayIntegrity
import Testing

@Suite struct SweepTests {
  private let maker: TokenMaker
  private let token: [UInt8]

  init() throws {
    maker = try TokenMaker()
    token = Array(try TestToken().make(by: maker).utf8)
  }

  private func expectRefused(_ variants: some Sequence<[UInt8]>) throws {
    var count = 0
    for variant in variants {
      #expect(
        try judge(variant, [maker.keys]).rejection != nil, "\(String(decoding: variant, as: UTF8.self))")
      count += 1
    }
    #expect(count >= token.count)
  }

  @Test(arguments: [UInt8(0x01), 0x02, 0x04, 0x20, 0x80]) func changed(bits: UInt8) throws {
    try expectRefused(
      token.indices.lazy.map { place in
        var variant = token
        variant[place] ^= bits
        return variant
      })
  }

  @Test func leftOut() throws {
    try expectRefused(token.indices.lazy.map { Array(token[..<$0] + token[($0 + 1)...]) })
  }

  @Test func cut() throws {
    try expectRefused(token.indices.lazy.map { Array(token[..<$0]) })
    try expectRefused(token.indices.lazy.map { Array(token[($0 + 1)...]) })
  }

  @Test func twice() throws {
    try expectRefused(token.indices.lazy.map { Array(token[...$0] + token[$0...]) })
    #expect(try judge(token + [0], [maker.keys]).rejection != nil)
  }

  /// The inner token as well, under an envelope that is right each time: what Google has signed stays as it is.
  @Test func signedChanged() throws {
    let good = Array(try TestToken().signed(by: maker).utf8)
    for place in good.indices {
      var variant = good
      variant[place] = variant[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let text = String(decoding: variant, as: UTF8.self)
      let token = TestToken().parts(text, for: maker).joined(separator: ".")
      #expect(try judge(token, [maker.keys]).rejection != nil, "\(text)")
    }
  }
}
