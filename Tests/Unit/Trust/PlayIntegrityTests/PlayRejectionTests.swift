import Testing

@testable import PlayIntegrity

@Suite struct PlayRejectionTests {
  /// What a stranger can make is told from what Google has said of a phone.
  @Test(arguments: [
    (PlayRejection.size, false), (.signature, false), (.payload, false), (.nonce, false), (.timestamp, true),
    (.appVerdict, true), (.level, true),
  ])
  func isOfWhoAsked(rejection: PlayRejection, expected: Bool) {
    #expect(rejection.isOfWhoAsked == expected)
  }
}
