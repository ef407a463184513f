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
        HeaderName.resume, HeaderName.client, HeaderName.compression, EndpointPath.challenge,
        EndpointPath.register,
        EndpointPath.health,
      ] == [
        "X-App-Assert-KeyId", "X-App-Assert-Data", "X-App-Assert-Nonce", "Portcullis-Error",
        "Portcullis-Resume", "Portcullis-Client", "Portcullis-Compression", "/attest/challenge",
        "/attest/register", "/healthz",
      ])
    #expect(
      [MemberName.nonce, MemberName.expires, MemberName.keyID, MemberName.attestation, MemberName.clientData]
        == ["nonce", "expires", "keyId", "attestation", "clientData"])
    #expect(
      Subprotocol.allCases.map(\.rawValue) == [
        "binary", "telnet.mudstandards.org", "terminal.mudstandards.org", "gmcp.mudstandards.org",
        "json.mudstandards.org", "portcullis.v1",
      ])
    #expect(Subprotocol.allCases.filter(\.isRaw) == [.binary, .telnet])
  }

  @Test func wordsOfSessions() {
    #expect(
      MessageKind.allCases.map(\.rawValue) == [
        "session", "prompt", "echo", "mssp", "gap", "closing", "ended", "approvals", "otp", "gmcp", "msdp",
        "ack", "client", "leave",
      ])
    #expect(
      EndedReason.allCases.map(\.rawValue) == [
        "game_closed", "game_failed", "revoked", "replaced", "closed_by_operator", "expired", "let_go",
        "shutdown",
      ])
    #expect(
      ClosingReason.allCases.map { "\($0.closeCode) \($0.rawValue)" } == [
        "1000 ended", "1002 protocol_error", "1007 invalid_payload", "1009 message_too_big",
        "1012 restarting", "4000 left", "4001 taken_over", "4002 malformed",
      ])
    #expect(ClosingReason.allCases.filter { !$0.keepsSession } == [.ended])
    #expect(ClientFeature.allCases.map(\.rawValue) == ["truecolor", "screen_reader"])
    #expect(ResumeRefusal.allCases.map(\.rawValue) == ["unknown"])
  }

  /// Any other code is a gate newer than the client, or not ours.
  @Test func codes() {
    #expect(RefusalCode(rawValue: "key_unknown")?.statusCode == 401)
    #expect(RefusalCode(rawValue: "no_such_code") == nil)
    #expect(RefusalCode.clientOutdated.statusCode == 426 && RefusalCode.pairingRejected.statusCode == 410)
    #expect(Set(RefusalCode.allCases.map(\.rawValue)).count == RefusalCode.allCases.count)
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
