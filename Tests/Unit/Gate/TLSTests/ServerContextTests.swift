import Crypto
import TLSPeers
import Testing

@testable import TLS

/// What an operator can get wrong.
@Suite struct ServerContextTests {
  private let identity: Identity
  private let other: Identity
  private let authority: [UInt8]

  init() throws {
    let authority = try Authority("server")
    self.authority = authority.pem
    identity = try authority.issue("localhost")
    other = try authority.issue("other")
  }

  private func error(chain: [UInt8]? = nil, key: [UInt8]? = nil, clientCA: [UInt8]? = nil)
    -> TLSConfigurationError?
  {
    let material = TLSMaterial(
      certificateChainPEM: chain ?? identity.chain, privateKeyPEM: key ?? identity.key, clientCAPEM: clientCA)
    do throws(TLSConfigurationError) {
      _ = try TLSServerContext.make(material, tickets: TicketKeys())
      return nil
    } catch {
      return error
    }
  }

  /// A PEM block whose label is right and whose contents are not.
  private static func block(_ label: String, _ body: String = "AAAA") -> [UInt8] {
    Array("-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n".utf8)
  }

  @Test func goodMaterial() {
    #expect(error() == nil)
    #expect(error(clientCA: identity.chain) == nil)
  }

  @Test func theKeyOfAnotherCertificate() {
    #expect(error(key: other.key) == .keyDoesNotMatch)
    #expect(error(chain: other.chain) == .keyDoesNotMatch)
  }

  /// Not a wrong key: the key's certificate is there, in another place.
  @Test func aChainInTheWrongOrder() {
    #expect(
      error(chain: other.chain + identity.chain) == .certificateNotFirst(position: 2, isAuthorityFirst: false)
    )
    #expect(
      error(chain: authority + other.chain + identity.chain)
        == .certificateNotFirst(position: 3, isAuthorityFirst: true))
  }

  @Test(arguments: [
    "", "nonsense", "\0\u{1}\u{2}", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
  ])
  func withoutACertificate(text: String) {
    let bytes = Array(text.utf8)
    #expect(error(chain: bytes) == .certificateUnreadable(reason: "it holds no certificate"))
    #expect(error(clientCA: bytes) == .clientCAUnreadable(reason: "it holds no certificate"))
    guard case .keyUnreadable = error(key: bytes) else {
      Issue.record("the key was read")
      return
    }
  }

  @Test func aBrokenCertificate() {
    for broken in [
      Self.block("CERTIFICATE"), Self.block("CERTIFICATE", "!"), Array(identity.chain.dropLast(60)),
    ] {
      guard case .certificateUnreadable = error(chain: broken) else {
        Issue.record("a certificate was read from \(String(decoding: broken.suffix(40), as: UTF8.self))")
        continue
      }
      guard case .clientCAUnreadable = error(clientCA: broken) else {
        Issue.record("a client CA was read")
        continue
      }
    }
  }

  @Test func aBrokenOneBehindAGoodOne() {
    guard case .certificateUnreadable = error(chain: identity.chain + Self.block("CERTIFICATE")) else {
      Issue.record("a broken chain was taken")
      return
    }
  }

  @Test func aBrokenKey() {
    guard case .keyUnreadable = error(key: Self.block("PRIVATE KEY")) else {
      Issue.record("a key was read")
      return
    }
  }

  /// Nobody is there to be asked for a pass phrase.
  @Test func anEncryptedKeyIsRefusedWithoutAsking() {
    let encrypted = """
      -----BEGIN EC PRIVATE KEY-----
      Proc-Type: 4,ENCRYPTED
      DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF

      AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
      -----END EC PRIVATE KEY-----

      """
    guard case .keyUnreadable = error(key: Array(encrypted.utf8)) else {
      Issue.record("a key was read")
      return
    }
  }

  /// Operators keep both in one file.
  @Test func certificateAndKeyInOneFile() {
    let file = identity.key + identity.chain
    #expect(error(chain: file, key: file) == nil)
  }

  @Test func errorsNameTheirPart() {
    #expect(error(chain: [])?.description.contains("certificate") == true)
    #expect(error(key: [])?.description.contains("key") == true)
    #expect(error(clientCA: [])?.description.contains("client CA") == true)
  }
}
