import TLSPeers
import Testing

@testable import TLS

/// What a peer's TLS messages may cost beyond the data that they bring (docs/protocol-connections.md, "TLS").
@Suite struct BoundsTests {
  private let server: Server
  /// See `PORTCULLIS_IDLE_MESSAGES`.
  private let messages = 32

  init() throws { server = try Server() }

  @Test(arguments: [false, true]) func messagesBetweenDataGoOn(wantsReplies: Bool) throws {
    var joined = try Joined(server, ClientOptions(version: .tls13))
    for _ in 0..<20 {
      for _ in 0..<messages { joined.client.updateKeys(wantsReply: wantsReplies) }
      joined.client.write("x")
      let read = joined.server.read(joined.client.takeOutput())
      #expect(read.records == [Array("x".utf8)])
      #expect(read.last == .wantsInput)
      joined.client.feed(joined.server.takeOutput())
    }
    #expect(joined.server.write("still here") == true)
    joined.client.feed(joined.server.takeOutput())
    #expect(joined.client.read() == .bytes(Array("still here".utf8)))
  }

  @Test(arguments: [1, 500]) func messagesWithoutDataAreAnEnd(tooMany: Int) throws {
    var joined = try Joined(server, ClientOptions(version: .tls13))
    for _ in 0..<messages + tooMany { joined.client.updateKeys(wantsReply: true) }
    joined.client.write("never read")
    let read = joined.server.read(joined.client.takeOutput())
    #expect(read.records == [])
    #expect(read.last == .excessive(.messages))
    // So many replies, and no more.
    #expect(recordTypes(joined.server.takeOutput()).count <= messages + 1)
    #expect(joined.server.read([]).last == .excessive(.messages))
  }

  @Test func anAttemptToRenegotiateIsAnEnd() throws {
    var joined = try Joined(server, ClientOptions(version: .tls12))
    joined.client.write("first")
    joined.client.renegotiate()
    let read = joined.server.read(joined.client.takeOutput())
    #expect(read.records == [Array("first".utf8)])
    #expect(read.last == .excessive(.renegotiation))
    // The warning that says so.
    #expect(recordTypes(joined.server.takeOutput()) == [21])
  }

  /// Padding is ciphertext too (RFC 8446 §5.4).
  @Test func ciphertextWithoutDataIsAnEnd() throws {
    var joined = try Joined(server, ClientOptions(version: .tls13, padding: 16_384))
    for _ in 0..<6 { joined.client.updateKeys(wantsReply: false) }
    var last = TLSReadResult.wantsInput
    // Several turns, as it is more than one turn's share.
    let bytes = joined.client.takeOutput()
    for start in stride(from: 0, to: bytes.count, by: 10_000) {
      last = joined.server.read(Array(bytes[start..<min(start + 10_000, bytes.count)])).last
      if last != .wantsInput { break }
    }
    #expect(last == .excessive(.ciphertext))
  }

  /// What a peer may send without data: 64 KiB less a byte, and the next one is an end.
  private let idleBytes = 65_536

  @Test func theLastByteOfTooMuchWithoutDataIsTheEnd() throws {
    var joined = try Joined(server, ClientOptions(version: .tls13, padding: 16_384))
    for _ in 0..<6 { joined.client.updateKeys(wantsReply: false) }
    let bytes = joined.client.takeOutput()
    #expect(bytes.count > idleBytes)
    for start in stride(from: 0, to: idleBytes - 1, by: 10_000) {
      let piece = Array(bytes[start..<min(start + 10_000, idleBytes - 1)])
      #expect(joined.server.read(piece).last == .wantsInput)
    }
    #expect(joined.server.read([bytes[idleBytes - 1]]).last == .excessive(.ciphertext))
  }

  /// Data begins the count anew.
  @Test func dataInTimeIsNoEnd() throws {
    var joined = try Joined(server, ClientOptions(version: .tls13, padding: 16_384))
    for _ in 0..<5 {
      for _ in 0..<2 { joined.client.updateKeys(wantsReply: false) }
      joined.client.write("x")
      #expect(joined.server.read(joined.client.takeOutput()).records == [Array("x".utf8)])
    }
  }

  @Test(arguments: both) func aTurnEndsWhenItsShareIsUsed(version: ClientOptions.Version) throws {
    var joined = try Joined(server, ClientOptions(version: version))
    for _ in 0..<1000 { joined.client.write("x") }
    let bytes = joined.client.takeOutput()
    var turns: [Int] = []
    var buffer = [UInt8](repeating: 0, count: 20_000)
    joined.server.session.withInput(bytes.span) { session in
      var last = TLSReadResult.wantsTurn
      while last == .wantsTurn, turns.count < 100 {
        session.beginTurn(.newcomer)
        turns.append(0)
        while true {
          var span = buffer.mutableSpan
          last = session.read(into: &span)
          guard case .bytes(1) = last else { break }
          turns[turns.count - 1] += 1
        }
      }
      #expect(last == .wantsInput)
    }
    #expect(turns.reduce(0, +) == 1000)
    #expect(turns.allSatisfy { $0 <= 64 })
  }

  // MARK: The handshake

  /// A ClientHello's beginning that announces `count` bytes, in records of `size`.
  private func hello(announcing count: Int, sending sent: Int, inRecordsOf size: Int) -> [UInt8] {
    let message =
      [1, UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255), 3, 3]
      + [UInt8](repeating: 0, count: sent)
    return stride(from: 0, to: message.count, by: size).flatMap { at in
      let part = message[at..<min(at + size, message.count)]
      return [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 255)] + part
    }
  }

  /// Before OpenSSL takes memory for what is announced; the largest that goes on is 16 KiB with its header.
  @Test(arguments: [1, 3, 4, 9, 100]) func aLongMessageIsRefusedByItsHeader(size: Int) throws {
    var accepted = try server.accept()
    #expect(accepted.handshake(hello(announcing: 16_380, sending: 100, inRecordsOf: size)) == .wantsInput)
    accepted = try server.accept()
    let long = hello(announcing: 16_381, sending: 100, inRecordsOf: size)
    #expect(accepted.handshake(long) == .failed(.excess(.messageTooLong)))
    #expect(accepted.takeOutput() == [21, 3, 3, 0, 2, 2, 47])
  }

  @Test func aLongMessageIsRefusedByteByByte() throws {
    var accepted = try server.accept()
    var last = HandshakeResult.wantsInput
    for byte in hello(announcing: 131_396, sending: 1, inRecordsOf: 100) where last == .wantsInput {
      last = accepted.handshake([byte])
    }
    #expect(last == .failed(.excess(.messageTooLong)))
  }

  /// The one after a HelloRetryRequest, with the ChangeCipherSpec in front that middleboxes want (RFC 8446 §D.4).
  @Test(arguments: [true, false]) func aLongSecondHelloIsRefused(sendsBoth: Bool) throws {
    let client = try TestClient(ClientOptions(version: .tls13, groups: "P-521:P-256"))
    #expect(client.handshake() == .wants)
    let first = client.takeOutput()
    let second = [20, 3, 3, 0, 1, 1] + hello(announcing: 131_396, sending: 100, inRecordsOf: 100)
    var accepted = try server.accept()
    if sendsBoth {
      #expect(accepted.handshake(first + second) == .failed(.excess(.messageTooLong)))
    } else {
      #expect(accepted.handshake(first) == .wantsInput)
      #expect(accepted.handshake(second) == .failed(.excess(.messageTooLong)))
    }
  }

  /// The server's key share is made before the client has proved, or computed, anything.
  @Test(arguments: [
    ("P-384", false), ("P-521", false), ("P-384:P-256", true), ("P-256", true), ("X25519", true),
  ])
  func groupsThatCostMuchAreNotAgreedTo(groups: String, isAgreed: Bool) throws {
    let client = try TestClient(ClientOptions(version: .tls13, groups: groups))
    #expect(client.handshake() == .wants)
    var accepted = try server.accept()
    #expect((accepted.handshake(client.takeOutput()) == .wantsInput) == isAgreed)
  }

  /// The same count before the handshake's end.
  @Test func theLastByteOfTooMuchInAHandshakeIsTheEnd() throws {
    var accepted = try server.accept()
    let crumbs = hello(announcing: 16_380, sending: 16_000, inRecordsOf: 1)
    #expect(crumbs.count > idleBytes)
    for start in stride(from: 0, to: idleBytes - 1, by: 10_000) {
      let piece = Array(crumbs[start..<min(start + 10_000, idleBytes - 1)])
      #expect(accepted.handshake(piece) == .wantsInput)
    }
    let last = accepted.handshake([crumbs[idleBytes - 1]])
    #expect(last == .failed(.excess(.ciphertext)))
  }

  /// So that the records of one byte of a long ClientHello have an end.
  @Test func ciphertextBeforeTheEndOfTheHandshakeIsBounded() throws {
    var accepted = try server.accept()
    let crumbs = hello(announcing: 16_380, sending: 16_000, inRecordsOf: 1)
    var last = HandshakeResult.wantsInput
    var turns = 0
    accepted.session.withInput(crumbs.span) { session in
      repeat {
        last = session.handshake()
        turns += 1
      } while last == .wantsTurn
    }
    #expect(last == .failed(.excess(.ciphertext)))
    #expect(turns > 1)
  }
}
