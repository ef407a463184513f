import Bytes
import DeviceWire
import Kit
import Testing

@testable import Admission

@Suite struct AcceptedTokensTests {
  @Test func knowsWhoseTheLatestAre() {
    var numbers = SplitMix(seed: 11)
    let tokens = AcceptedTokens()
    let entropy = SeededEntropy(11)
    let known = (0..<3000).map { _ in
      (
        token: Bytes32(words: numbers.next(), numbers.next(), numbers.next(), numbers.next()),
        device: DeviceID(random: entropy)
      )
    }
    #expect(known.allSatisfy { tokens.device(of: $0.token) == nil })
    for (token, device) in known {
      tokens.insert(token, of: device)
      #expect(tokens.device(of: token) == device)
    }
    // Where two fall into one place the newer one has it, and nobody another's.
    let found = known.map { ($0.device, tokens.device(of: $0.token)) }
    #expect(found.allSatisfy { $0.1 == nil || $0.1 == $0.0 })
    #expect(found.count { $0.1 == nil } < known.count / 10)
    let (token, other) = (known[7].token, known[8].device)
    tokens.insert(token, of: other)
    #expect(tokens.device(of: token) == other)
  }
}
