/// Seeds of Play Integrity's tokens: whole ones, what is inside an envelope, and payloads, made with the harness's keys.
internal import Bytes
internal import Crypto
internal import PlayIntegrity

extension SignedSeed {
  static let playTokens: [SignedSeed] = {
    let payload = PlayTokenHarness.goodPayload
    let signed = PlayTokenHarness.signed(header: #"{"alg":"ES256"}"#, payload: Array(payload.utf8))
    let good = PlayTokenHarness.sealed(signed)
    func said(_ name: String, _ text: String, _ other: String) -> SignedSeed {
      SignedSeed(.playToken, name, Array(payload.replacing(text, with: other).utf8))
    }
    func sealed(_ name: String, header: String) -> SignedSeed {
      let encoded = PlayTokenHarness.base64(Array(header.utf8))
      return SignedSeed(.playToken, name, PlayTokenHarness.sealed(signed, header: encoded))
    }
    func inside(_ name: String, header: String) -> SignedSeed {
      let contents = PlayTokenHarness.signed(header: header, payload: Array(payload.utf8))
      return SignedSeed(.playToken, name, contents)
    }
    let labels = #"["MEETS_BASIC_INTEGRITY","MEETS_DEVICE_INTEGRITY"]"#
    return [
      SignedSeed(.playToken, "accepted-token", good), SignedSeed(.playToken, "accepted-contents", signed),
      SignedSeed(.playToken, "accepted-payload", Array(payload.utf8)),
      sealed("accepted-header-with-more", header: #"{"typ":"JWT","enc":"A256GCM","alg":"A256KW"}"#),
      said("accepted-time-as-number", #""1772452800000""#, "1772452800000"),
      said("accepted-strong", labels, #"["MEETS_STRONG_INTEGRITY"]"#),
      said("accepted-nonce-padded", #""},"app"#, #"="},"app"#),
      sealed("refused-compressed", header: #"{"alg":"A256KW","enc":"A256GCM","zip":"DEF"}"#),
      sealed("refused-another-cipher", header: #"{"alg":"A256KW","enc":"A128GCM"}"#),
      inside("refused-none", header: #"{"alg":"none"}"#),
      inside("refused-critical", header: #"{"alg":"ES256","crit":["exp"]}"#),
      SignedSeed(.playToken, "refused-tag", good.dropLast(22) + [UInt8](repeating: 0x41, count: 22)),
      SignedSeed(
        .playToken, "refused-signature", signed.dropLast(86) + [UInt8](repeating: 0x41, count: 86)),
      SignedSeed(.playToken, "refused-padding", good + Array("==".utf8)),
      said("refused-unevaluated", "PLAY_RECOGNIZED", "UNEVALUATED"),
      said("refused-no-label", labels, "[]"),
      said("refused-member-twice", "{\"req", "{\"appIntegrity\":1,\"req"),
      said("refused-stale", "1772452800000", "1772452709999"),
    ]
  }()
}
