/// Pins: a key has one, by whatever file it is known.
import Bytes
import Testing

@testable import Crypto

@Suite struct PublicKeyPinTests {
  /// `openssl pkey -pubin -outform DER | sha256sum` has its pin.
  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQiVI+I+3gv+17KN0RFLHKh5Vj71v
    c75eSOkyMsxFxbFsTNEMTLjVuKFxOelIgsiZJXKZNCX0FBmrfpCkKklCcg==
    -----END PUBLIC KEY-----

    """

  private func pin(_ text: String) throws -> PublicKeyPin {
    try PublicKeyPin.ofKey(PrivateKeyText(copying: Array(text.utf8).span))
  }

  @Test func oneKeyHasOnePin() throws {
    let made = try SelfSignedCertificate.localhost()
    let spki = try made.key.subjectPublicKeyInfo()
    let expected = PublicKeyPin(subjectPublicKeyInfo: spki.span)
    let other = try SelfSignedCertificate.localhost()
    let chain = Array("text\n\(made.certificate.pem)\(other.certificate.pem)".utf8)
    let ofCertificate = try PublicKeyPin.ofCertificate(inPEM: chain.span)
    let ofPrivate = try pin(made.key.pem())
    let ofPublic = try pin(PEMBlock.encode("PUBLIC KEY", spki))
    #expect(ofCertificate == expected && ofPrivate == expected && ofPublic == expected)
    #expect(expected.text.utf8.count == 43)
    #expect(Base64.decode(Array(expected.text.utf8).span) == expected.hash.array)
    #expect(try pin(other.key.pem()) != expected)
  }

  @Test func aKnownKey() throws {
    let pin = try pin(Self.publicKey)
    #expect(pin.hash.hex == "b2b04340cfaee616ec9c2c62d261b208e54bb197498df52e8cadede23ac0ba5e")
  }

  @Test(arguments: ["", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
  func others(text: String) {
    #expect(throws: IssuingError.self) { try pin(text) }
    let bytes = Array(text.utf8)
    #expect(throws: CertificateError.malformedPEM) { try PublicKeyPin.ofCertificate(inPEM: bytes.span) }
  }
}
