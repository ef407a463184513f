import Sockets
import System
import TLSPeers
import Testing

@testable import TLS

/// One server with its own certificate, and what it needs beside it.
struct Server {
  let context: TLSServerContext
  let tickets: TicketKeys

  /// - Parameter clientCA: the authority that clients' certificates may come from; nil asks for none.
  init(
    clientCA: [UInt8]? = nil, tickets: TicketKeys = TicketKeys(), identity: Identity? = nil,
    minimum: TLSVersion = .tls12
  ) throws {
    let own = try identity ?? Authority("server").issue("localhost", purpose: [1, 3, 6, 1, 5, 5, 7, 3, 1])
    var material = TLSMaterial(certificateChainPEM: own.chain, privateKeyPEM: own.key, clientCAPEM: clientCA)
    material.minimumVersion = minimum
    context = try TLSServerContext.make(material, tickets: tickets)
    self.tickets = tickets
  }

  func accept() throws -> Accepted { try Accepted(context) }
}

/// One connection in memory, seen from the server.
struct Accepted: ~Copyable {
  let outbox = Outbox()
  var session: TLSSession

  init(_ context: TLSServerContext) throws {
    let made = TLSSession.inMemory(context: context, outbox: outbox)
    guard let made else { throw NoSession() }
    session = made
  }

  /// What is to go to the client.
  func takeOutput() -> [UInt8] { TLSTests.takeOutput(of: outbox) }

  mutating func handshake(_ bytes: [UInt8]) -> HandshakeResult {
    session.withInput(bytes.span) { $0.handshake() }
  }

  /// All that can be read of `bytes`, record by record, with what came last.
  mutating func read(_ bytes: [UInt8], room: Int = 20_000) -> (records: [[UInt8]], last: TLSReadResult) {
    session.beginTurn(.session)
    return session.withInput(bytes.span) { session in
      var records: [[UInt8]] = []
      var buffer = [UInt8](repeating: 0, count: room)
      while true {
        var span = buffer.mutableSpan
        let result = session.read(into: &span)
        guard case .bytes(let count) = result else { return (records, result) }
        records.append(Array(buffer.prefix(count)))
      }
    }
  }

  mutating func write(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return session.write(bytes.span)
  }
}

struct NoSession: Error {}

func takeOutput(of outbox: Outbox) -> [UInt8] {
  let span = outbox.bytes
  let bytes = span.indices.map { span[$0] }
  outbox.reset()
  return bytes
}

/// Lets both talk until the server is through or one of them fails.
func handshake(_ client: TestClient, _ server: inout Accepted) -> HandshakeResult {
  var result = HandshakeResult.wantsInput
  for _ in 0..<10 {
    _ = client.handshake()
    let bytes = client.takeOutput()
    if bytes.isEmpty { break }
    result = server.handshake(bytes)
    client.feed(server.takeOutput())
    if result != .wantsInput { break }
  }
  // The server's last flight, and in TLS 1.3 its ticket.
  _ = client.handshake()
  if result == .finished { _ = client.read() }
  return result
}

/// A client that is through with its handshake, and the server's side of it.
struct Joined: ~Copyable {
  let client: TestClient
  var server: Accepted

  init(_ server: Server, _ options: ClientOptions = ClientOptions()) throws {
    let client = try TestClient(options)
    var accepted = try server.accept()
    let result = handshake(client, &accepted)
    #expect(result == .finished)
    self.client = client
    self.server = accepted
  }

  /// Whether the session of an earlier connection was taken up, as both see it.
  var wasResumed: Bool {
    #expect(client.wasResumed == server.session.wasResumed)
    return server.session.wasResumed
  }
}

/// The content types of the records in `bytes` (RFC 8446 §5.1).
func recordTypes(_ bytes: [UInt8]) -> [UInt8] {
  var types: [UInt8] = []
  var index = 0
  while index + 5 <= bytes.count {
    types.append(bytes[index])
    index += 5 + (Int(bytes[index + 3]) << 8 | Int(bytes[index + 4]))
  }
  return types
}

let both: [ClientOptions.Version] = [.tls12, .tls13]
