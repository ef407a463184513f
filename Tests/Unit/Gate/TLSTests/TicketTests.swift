import TLSPeers
import Testing

@testable import TLS

/// docs/protocol-connections.md, "TLS": one ticket, keys shared by all loops, and none for who presented a certificate.
@Suite struct TicketTests {
  /// A session of a first connection.
  private static func session(_ server: Server, _ version: ClientOptions.Version) throws -> ClientSession {
    let joined = try Joined(server, ClientOptions(version: version))
    #expect(joined.wasResumed == false)
    return try #require(joined.client.session)
  }

  private static func resumes(
    _ session: ClientSession, _ server: Server, _ version: ClientOptions.Version
  ) throws -> Bool {
    try Joined(server, ClientOptions(version: version, session: session)).wasResumed
  }

  @Test(arguments: both) func aTicketResumes(version: ClientOptions.Version) throws {
    let server = try Server()
    let session = try Self.session(server, version)
    #expect(session.hasTicket)
    #expect(try Self.resumes(session, server, version))
  }

  @Test func oneTicketInTLS13() throws {
    let server = try Server()
    let client = try TestClient(ClientOptions(version: .tls13))
    var accepted = try server.accept()
    _ = client.handshake()
    #expect(accepted.handshake(client.takeOutput()) == .wantsInput)
    client.feed(accepted.takeOutput())
    _ = client.handshake()
    #expect(accepted.handshake(client.takeOutput()) == .finished)
    // All that the server says behind its Finished.
    #expect(recordTypes(accepted.takeOutput()) == [23])
  }

  @Test(arguments: both) func theKeyBeforeIsStillRead(version: ClientOptions.Version) throws {
    let server = try Server()
    let session = try Self.session(server, version)
    server.tickets.rotate()
    #expect(try Self.resumes(session, server, version))
  }

  @Test(arguments: both) func theKeyBeforeThatIsGone(version: ClientOptions.Version) throws {
    let server = try Server()
    let session = try Self.session(server, version)
    server.tickets.rotate()
    server.tickets.rotate()
    #expect(try !Self.resumes(session, server, version))
  }

  @Test(arguments: both) func whoComesBackInTimeGetsANewTicket(version: ClientOptions.Version) throws {
    let server = try Server()
    var session = try Self.session(server, version)
    for _ in 0..<4 {
      server.tickets.rotate()
      let joined = try Joined(server, ClientOptions(version: version, session: session))
      #expect(joined.wasResumed == true)
      session = try #require(joined.client.session)
    }
  }

  @Test(arguments: both) func contextsShareKeys(version: ClientOptions.Version) throws {
    // As after a reload, with another certificate.
    let tickets = TicketKeys()
    let session = try Self.session(Server(tickets: tickets), version)
    #expect(try Self.resumes(session, Server(tickets: tickets), version))
    #expect(try !Self.resumes(session, Server(), version))
  }

  // MARK: Certificates

  @Test(arguments: both) func noneForWhoShowedACertificate(version: ClientOptions.Version) throws {
    let authority = try Authority("clients")
    let server = try Server(clientCA: authority.pem)
    let identity = try authority.issue("player")
    let joined = try Joined(server, ClientOptions(version: version, identity: identity))
    let session = try #require(joined.client.session)
    #expect(!session.hasTicket)
    #expect(try !Self.resumes(session, server, version))
  }

  @Test(arguments: both) func noneForABadCertificateEither(version: ClientOptions.Version) throws {
    let server = try Server(clientCA: Authority("clients").pem)
    let identity = try Authority("strangers").issue("stranger")
    let joined = try Joined(server, ClientOptions(version: version, identity: identity))
    #expect(try #require(joined.client.session).hasTicket == false)
  }

  @Test(arguments: both) func whoWasAskedAndShowedNoneIsAbsentAgain(version: ClientOptions.Version) throws {
    let server = try Server(clientCA: Authority("clients").pem)
    let session = try Self.session(server, version)
    let joined = try Joined(server, ClientOptions(version: version, session: session))
    #expect(joined.wasResumed == true)
    #expect(joined.server.session.clientCertificate(at: .now, under: server.context) == .absent)
  }

  /// From no authority to one, from one to another, and back to none, always with the same ticket keys.
  @Test(arguments: both) func aTicketEndsWithTheClientCA(version: ClientOptions.Version) throws {
    let tickets = TicketKeys()
    let none = try Server(tickets: tickets)
    let first = try Server(clientCA: Authority("first").pem, tickets: tickets)
    let second = try Server(clientCA: Authority("second").pem, tickets: tickets)
    for (from, to) in [(none, first), (first, second), (second, none)] {
      #expect(try !Self.resumes(Self.session(from, version), to, version))
    }
  }
}
