/// What clients were told once stays as it is: these are the words of docs/protocol.md, written out again.
import PortcullisProtocol
import Testing

@Suite struct ProtocolTests {
  @Test func names() {
    for name in [HeaderName.assertionKeyID, HeaderName.assertionData, HeaderName.assertionNonce] {
      #expect(name.hasPrefix(HeaderName.assertionPrefix))
    }
    #expect(
      [
        HeaderName.assertionKeyID, HeaderName.assertionData, HeaderName.assertionNonce, HeaderName.error,
        EndpointPath.challenge, EndpointPath.register, EndpointPath.health,
      ] == [
        "X-App-Assert-KeyId", "X-App-Assert-Data", "X-App-Assert-Nonce", "Portcullis-Error",
        "/attest/challenge", "/attest/register", "/healthz",
      ])
    #expect(
      [MemberName.nonce, MemberName.expires, MemberName.keyID, MemberName.attestation, MemberName.clientData]
        == ["nonce", "expires", "keyId", "attestation", "clientData"])
    #expect(Subprotocol.allCases.map(\.rawValue) == ["binary", "telnet.mudstandards.org"])
  }

  /// Any other code is a gate newer than the client, or not ours.
  @Test func codes() {
    #expect(RefusalCode(rawValue: "key_unknown")?.statusCode == 401)
    #expect(RefusalCode(rawValue: "no_such_code") == nil)
    for code in RefusalCode.allCases {
      #expect((400..<600).contains(code.statusCode))
      #expect(code.sentence.hasSuffix(".") && code.sentence.utf8.allSatisfy { $0 < 0x80 && $0 != 0x22 })
    }
  }

  /// A Close frame has room for 123 bytes (RFC 6455 §5.5.1).
  @Test(arguments: CloseReason.allCases) func reasons(reason: CloseReason) {
    #expect((1...123).contains(reason.rawValue.utf8.count))
  }
}
