/// What waits for a player, and from when on nothing more is read from him.
import TLSPeers
import Testing

@testable import Crypto
@testable import Gateway
@testable import Sockets
@testable import System
@testable import TLS
@testable import Upstream

@Suite struct ClientLegTests {
  private struct NoSession: Error {}

  /// A leg behind its handshake whose kernel takes nothing more.
  private struct Blocked: ~Copyable {
    let outbox = Outbox()
    var leg: ClientLeg
    /// Nobody reads at its second end.
    private let pair: SocketPair

    init() throws {
      let server = try SelfSignedCertificate.localhost()
      let context = try TLSServerContext.make(
        TLSMaterial(
          certificateChainPEM: Array(server.certificate.pem.utf8),
          privateKeyPEM: Array(try server.key.pem().utf8), clientCAPEM: nil), tickets: TicketKeys())
      guard var session = TLSSession.inMemory(context: context, outbox: outbox) else { throw NoSession() }
      let client = try TestClient(ClientOptions(version: .tls13))
      var last = HandshakeResult.wantsInput
      while last == .wantsInput {
        _ = client.handshake()
        let flight = client.takeOutput()
        if flight.isEmpty { break }
        last = session.withInput(flight.span) { $0.handshake() }
        client.feed(Self.take(outbox))
      }
      #expect(last == .finished)
      let pair = try Socket.pair()
      let filling = [UInt8](repeating: 0, count: 65_536)
      while case .bytes = pair.first.send(filling.span) {}
      while case .bytes = pair.first.send(filling.span.extracting(first: 1)) {}
      leg = ClientLeg(socket: Socket(try pair.first.duplicate()), tls: session)
      self.pair = pair
    }

    private static func take(_ outbox: Outbox) -> [UInt8] {
      let span = outbox.bytes
      let bytes = span.indices.map { span[$0] }
      outbox.reset()
      return bytes
    }

    /// One record that is so long on the wire; what TLS 1.3 adds to its data is constant.
    mutating func queue(record length: Int) -> (written: Int, result: FlushResult) {
      let data = [UInt8](repeating: 7, count: length - 22)
      _ = leg.tls.write(data.span)
      let written = outbox.bytes.count
      return (written, leg.flush(outbox))
    }
  }

  /// 144 KiB, and one byte more.
  @Test func isFullAboveItsBound() throws {
    var blocked = try Blocked()
    let lengths = [Int](repeating: 16_000, count: 9) + [144 * 1024 - 9 * 16_000 - 23, 23, 23]
    var (waiting, isFull) = ([Int](), [Bool]())
    for length in lengths {
      let (written, result) = blocked.queue(record: length)
      #expect(written == length && result == .blocked)
      waiting.append(blocked.leg.unsent.count)
      isFull.append(blocked.leg.isFull)
    }
    let bound = 144 * 1024
    #expect(waiting.suffix(2) == [bound, bound + 23])
    // With the bound itself it is not.
    #expect(isFull.firstIndex(of: true) == 11)
  }
}
