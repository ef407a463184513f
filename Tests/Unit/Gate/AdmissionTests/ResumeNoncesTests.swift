import Bytes
import Kit
import SessionWire
import Testing

@testable import Admission

/// docs/sessions.md, "Resuming": the nonce that is a session's own.
@Suite struct ResumeNoncesTests {
  private static let nonces = ResumeNonces(key: [UInt8](0..<32))
  private static let id = SessionID(InlineArray<16, UInt8> { UInt8($0) })

  /// By Python: hmac.digest(bytes(range(32)), b"resume" + bytes(range(16)), "sha256").
  @Test func vector() {
    #expect(
      Self.nonces.nonce(of: Self.id).hex == "20a79ec4740dcb15cb6e5a8ba2d2e389d8a77cec150149629ec40516fd594157"
    )
  }

  @Test func isItsIDsAlone() {
    let nonce = Self.nonces.nonce(of: Self.id)
    #expect(Self.nonces.isNonce(nonce, of: Self.id))
    for bit in 0..<128 {
      let other = SessionID(
        InlineArray<16, UInt8> { UInt8($0) ^ ($0 == bit / 8 ? 1 << UInt8(bit % 8) : 0) })
      #expect(!Self.nonces.isNonce(nonce, of: other))
    }
  }

  @Test func aFlippedBitIsNone() throws {
    for bit in 0..<256 {
      var bytes = Self.nonces.nonce(of: Self.id).array
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!Self.nonces.isNonce(try #require(Bytes32(bytes)), of: Self.id))
    }
  }

  @Test func anotherSecretsAreNone() {
    let other = ResumeNonces(key: [UInt8](1..<33))
    #expect(!other.isNonce(Self.nonces.nonce(of: Self.id), of: Self.id))
  }
}
