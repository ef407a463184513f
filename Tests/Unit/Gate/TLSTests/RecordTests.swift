import TLSPeers
import Testing

@testable import TLS

@Suite struct RecordTests {
  private let server: Server

  init() throws { server = try Server() }

  @Test(arguments: both) func writesGatherInTheOutbox(version: ClientOptions.Version) throws {
    var joined = try Joined(server, ClientOptions(version: version))
    let outbox = joined.server.outbox
    #expect(outbox.isEmpty)
    for text in ["one", "two", "three"] { #expect(joined.server.write(text) == true) }
    let bytes = joined.server.takeOutput()
    #expect(recordTypes(bytes) == [23, 23, 23])
    #expect(outbox.isEmpty)
    joined.client.feed(bytes)
    for text in ["one", "two", "three"] { #expect(joined.client.read() == .bytes(Array(text.utf8))) }
    #expect(joined.client.read() == .wants)
  }

  /// At, below and above what one record holds (RFC 8446 §5.1), and more than the outbox keeps.
  @Test(arguments: [(16_383, 1), (16_384, 1), (16_385, 2), (40_000, 3), (300_000, 19)])
  func longWritesAreSplit(count: Int, records: Int) throws {
    var joined = try Joined(server)
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
    #expect(joined.server.session.write(payload.span) == true)
    let bytes = joined.server.takeOutput()
    #expect(recordTypes(bytes).count == records)
    joined.client.feed(bytes)
    var received: [UInt8] = []
    while case .bytes(let piece) = joined.client.read() { received += piece }
    #expect(received == payload)
  }

  @Test func nothingWrittenIsNothingSent() throws {
    var joined = try Joined(server)
    #expect(joined.server.write("") == true)
    #expect(joined.server.takeOutput() == [])
  }

  @Test(arguments: both) func severalRecordsInOneInput(version: ClientOptions.Version) throws {
    var joined = try Joined(server, ClientOptions(version: version))
    for text in ["a", "bc", "def"] { joined.client.write(text) }
    let read = joined.server.read(joined.client.takeOutput())
    #expect(read.records == ["a", "bc", "def"].map { Array($0.utf8) })
    #expect(read.last == .wantsInput)
  }

  @Test(arguments: both) func recordsByteByByte(version: ClientOptions.Version) throws {
    var joined = try Joined(server, ClientOptions(version: version))
    joined.client.write("first")
    joined.client.write("second")
    var received: [[UInt8]] = []
    for byte in joined.client.takeOutput() {
      let read = joined.server.read([byte])
      #expect(read.last == .wantsInput)
      received += read.records
    }
    #expect(received == ["first", "second"].map { Array($0.utf8) })
  }

  @Test func aRecordIsReadInPieces() throws {
    var joined = try Joined(server)
    joined.client.write("abcdefghij")
    let read = joined.server.read(joined.client.takeOutput(), room: 4)
    #expect(read.records == ["abcd", "efgh", "ij"].map { Array($0.utf8) })
  }

  @Test(arguments: both) func closeNotifyIsAnEnd(version: ClientOptions.Version) throws {
    var joined = try Joined(server, ClientOptions(version: version))
    joined.client.write("bye")
    joined.client.close()
    let read = joined.server.read(joined.client.takeOutput())
    #expect(read.records == [Array("bye".utf8)])
    #expect(read.last == .closed)
    // The other direction is still open (RFC 8446 §6.1), until it is closed too.
    #expect(joined.server.write("rest") == true)
    joined.server.session.finishSending()
    joined.client.feed(joined.server.takeOutput())
    #expect(joined.client.read() == .bytes(Array("rest".utf8)))
    #expect(joined.client.read() == .closed)
  }

  @Test(arguments: both) func ourCloseNotifyLeavesTheOtherDirectionOpen(version: ClientOptions.Version) throws
  {
    var joined = try Joined(server, ClientOptions(version: version))
    joined.server.session.finishSending()
    joined.client.feed(joined.server.takeOutput())
    #expect(joined.client.read() == .closed)
    joined.client.write("late")
    #expect(joined.server.read(joined.client.takeOutput()).records == [Array("late".utf8)])
    #expect(joined.server.write("x") == false)
  }

  @Test(arguments: both) func aForgedRecordFailsWithAnAlert(version: ClientOptions.Version) throws {
    var joined = try Joined(server, ClientOptions(version: version))
    joined.client.write("genuine")
    joined.client.write("forged")
    var bytes = joined.client.takeOutput()
    bytes[bytes.count - 1] ^= 1
    let read = joined.server.read(bytes)
    #expect(read.records == [Array("genuine".utf8)])
    #expect(read.last == .failed(.protocol(reason: "decryption failed or bad record mac")))
    joined.client.feed(joined.server.takeOutput())
    #expect(joined.client.read() == .failed)
    #expect(joined.server.write("x") == false)
  }

  @Test func aSessionWithoutHandshakeCarriesNothing() throws {
    var accepted = try server.accept()
    #expect(accepted.write("too early") == false)
    #expect(accepted.takeOutput() == [])
    accepted.session.finishSending()
    #expect(accepted.takeOutput() == [])
  }
}
