import Bytes
import Crypto
import System
import Time
import TLSPeers
import Testing

@testable import TLS

extension UnixTime {
  static var now: UnixTime { SystemClock().wall() }
}

/// docs/protocol.md, "Admission": judged, and never the end of a handshake.
@Suite struct ClientCertificateTests {
  private static func verdict(
    _ server: Server, _ identity: Identity?, _ version: ClientOptions.Version, at time: UnixTime = .now
  ) throws -> TLS.ClientCertificate {
    var joined = try Joined(server, ClientOptions(version: version, identity: identity))
    // Whatever the verdict, the connection works.
    joined.client.write("hello")
    #expect(joined.server.read(joined.client.takeOutput()).records == [Array("hello".utf8)])
    return joined.server.session.clientCertificate(at: time, under: server.context)
  }

  private static func verified(_ subject: String, _ identity: Identity) throws -> TLS.ClientCertificate {
    .verified(
      subject: subject, publicKey: SHA256.hash(identity.subjectPublicKeyInfo.span),
      terms: try terms(of: identity))
  }

  /// Its chain ends with its authority.
  private static func terms(of identity: Identity) throws -> CertificateTerms {
    let authority = try #require(Certificate.contents(ofPEM: identity.chain.span).last)
    let digest = SHA256.hash(authority.span).array
    let ends = try CertificateSummary.all(inPEM: identity.chain.span).map(\.notAfter)
    return CertificateTerms(
      authority: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, end: try #require(ends.min()))
  }

  @Test(arguments: both) func aGoodOneIsVerified(version: ClientOptions.Version) throws {
    let authority = try Authority("clients")
    let server = try Server(clientCA: authority.pem)
    let identity = try authority.issue("player one")
    let verdict = try Self.verdict(server, identity, version)
    #expect(try verdict == Self.verified("CN=player one", identity))
  }

  @Test(arguments: both) func noneIsAbsent(version: ClientOptions.Version) throws {
    let server = try Server(clientCA: Authority("clients").pem)
    #expect(try Self.verdict(server, nil, version) == .absent)
  }

  @Test(arguments: both) func withoutAClientCANobodyIsAsked(version: ClientOptions.Version) throws {
    let authority = try Authority("clients")
    let server = try Server()
    let joined = try Joined(server, ClientOptions(version: version, identity: authority.issue("player")))
    #expect(joined.client.namedAuthorities == 0)
    #expect(joined.server.session.clientCertificate(at: .now, under: server.context) == .absent)
  }

  @Test(arguments: both) func theAuthoritiesAreNamed(version: ClientOptions.Version) throws {
    let (first, second) = (try Authority("one").pem, try Authority("two").pem)
    let joined = try Joined(Server(clientCA: first + second), ClientOptions(version: version))
    #expect(joined.client.namedAuthorities == 2)
  }

  @Test(arguments: both) func anyOfSeveralAuthorities(version: ClientOptions.Version) throws {
    let first = try Authority("one")
    let second = try Authority("two")
    let server = try Server(clientCA: first.pem + second.pem)
    let (b, a) = (try second.issue("b"), try first.issue("a"))
    #expect(try Self.verdict(server, b, version) == Self.verified("CN=b", b))
    #expect(try Self.verdict(server, a, version) == Self.verified("CN=a", a))
  }

  /// A reload may have made another context, with the same authority or not.
  @Test(arguments: both) func aVerdictStandsWithItsAuthority(version: ClientOptions.Version) throws {
    let authority = try Authority("clients")
    let server = try Server(clientCA: authority.pem)
    let options = ClientOptions(version: version, identity: try authority.issue("player"))
    let joined = try Joined(server, options)
    for (current, stands) in [
      (try Server(clientCA: authority.pem), true), (try Server(clientCA: Authority("others").pem), false),
      (try Server(), false),
    ] {
      switch joined.server.session.clientCertificate(at: .now, under: current.context) {
      case .verified: #expect(stands)
      case .refused(_, let reason): #expect(!stands && reason.contains("changed"))
      case .absent: Issue.record("the certificate is gone")
      }
    }
  }

  /// Each with OpenSSL's reason for it.
  @Test(arguments: both) func badOnesAreRefused(version: ClientOptions.Version) throws {
    let authority = try Authority("clients")
    let server = try Server(clientCA: authority.pem)
    let foreign = try Authority("strangers").issue("x")
    // The same name, and another key.
    let impostor = try Authority("clients").issue("x")
    let expired = try authority.issue("x", days: -5 ... -2)
    let early = try authority.issue("x", days: 2...5)
    let wrongPurpose = try authority.issue("x", purpose: [1, 3, 6, 1, 5, 5, 7, 3, 1])
    for (identity, word) in [
      (foreign, "issuer"), (impostor, "issuer"), (expired, "expired"), (early, "not yet valid"),
      (wrongPurpose, "purpose"),
    ] {
      guard case .refused(let subject, let reason) = try Self.verdict(server, identity, version) else {
        Issue.record("not refused: \(word)")
        continue
      }
      #expect(subject == "CN=x")
      #expect(reason.contains(word), "\(reason)")
    }
  }

  /// A handshake may lie long before the upgrade: dates count when it is asked for.
  @Test(arguments: both) func datesAreJudgedAgain(version: ClientOptions.Version) throws {
    let authority = try Authority("clients")
    let server = try Server(clientCA: authority.pem)
    let identity = try authority.issue("player")
    for (days, isGood) in [(-2, false), (0, true), (2, false), (20, false)] as [(Int64, Bool)] {
      let time = UnixTime(milliseconds: UnixTime.now.milliseconds + days * 86_400_000)
      let verdict = try Self.verdict(server, identity, version, at: time)
      let expected =
        try isGood
        ? Self.verified("CN=player", identity)
        : .refused(subject: "CN=player", reason: "not valid at this time")
      #expect(verdict == expected, "\(days) days from now")
    }
  }

  /// The whole chain counts: here the leaf would be good for longer than its authority (10 days).
  @Test func theAuthoritysDatesCountToo() throws {
    let authority = try Authority("clients")
    let server = try Server(clientCA: authority.pem)
    let identity = try authority.issue("player", days: -1...30)
    let time = UnixTime(milliseconds: UnixTime.now.milliseconds + 20 * 86_400_000)
    let verdict = try Self.verdict(server, identity, .tls13, at: time)
    #expect(verdict == .refused(subject: "CN=player", reason: "not valid at this time"))
  }

  /// What was found good once is so while its authority is one of those asked, whatever else is, and until its end.
  @Test func termsAreLookedAtAgain() throws {
    let authority = try Authority("clients")
    let other = try Authority("clients")
    let identity = try authority.issue("player", days: -1...30)
    let terms = try Self.terms(of: identity)
    let (now, end) = (UnixTime.now, terms.end)
    // Its authority's, which comes first.
    #expect(end < now.adding(days: 11))
    for (clientCA, isTaken) in [
      (authority.pem, true), (other.pem + authority.pem, true),
      (Array("# again\n".utf8) + authority.pem, true),
      (other.pem, false), (nil, false),
    ] as [([UInt8]?, Bool)] {
      let context = try Server(clientCA: clientCA).context
      #expect(context.stillTakes(terms, at: now) == isTaken)
      #expect(context.stillTakes(terms, at: UnixTime(milliseconds: end.milliseconds - 1)) == isTaken)
      #expect(!context.stillTakes(terms, at: end))
    }
  }

  @Test func subjectsAreEscaped() throws {
    let authority = try Authority("clients")
    let server = try Server(clientCA: authority.pem)
    let identity = try authority.issue("a,b\nc=d")
    let verdict = try Self.verdict(server, identity, .tls13)
    #expect(try verdict == Self.verified("CN=a\\,b\\0Ac=d", identity))
  }
}
