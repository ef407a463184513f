/// The last refusals: docs/console.md, "Console".
import Addresses
import PortcullisProtocol
import Synchronization
import System
import Testing
import Time

@testable import Telemetry

@Suite struct RefusalRingTests {
  private static func note(_ ring: RefusalRing) {
    ring.note { number in
      RefusalEntry(
        number: number, at: UnixTime(milliseconds: Int64(number)), code: .nonceInvalid, step: "unknown",
        keyID: nil, deviceID: nil, asked: nil,
        peer: PeerName(
          loop: 1, number: 255, source: Endpoint(address: IPAddress(v4: 0x7F00_0001), port: 1), trace: nil))
    }
  }

  @Test(arguments: [0, 1, 49, 50, 51, 999, 1000, 1001, 1050, 1051, 5000])
  func theLatestThousandAreKept(count: Int) {
    let ring = RefusalRing()
    for _ in 0..<count { Self.note(ring) }
    #expect(ring.latest.map(\.number) == Array((max(1, count - 999)..<count + 1).reversed()))
    #expect(ring.latest.allSatisfy { $0.connection == "1-ff" })
  }

  /// What stays the same while others write is what was read.
  @Test func readersSeeEachOnceAndInOrder() throws {
    let ring = RefusalRing()
    let isOver = Atomic(false)
    let writers = try (0..<2).map { number in
      JoinHandle(
        try Thread(name: "writer-\(number)") { for _ in 0..<20_000 { Self.note(ring) } })
    }
    let reader = JoinHandle(
      try Thread(name: "reader") {
        while !isOver.load(ordering: .relaxed) {
          let numbers = ring.latest.map(\.number)
          guard let first = numbers.first else { continue }
          #expect(numbers == Array((max(1, first - 999)...first).reversed()))
        }
      })
    for writer in writers { writer.join() }
    isOver.store(true, ordering: .relaxed)
    reader.join()
    #expect(ring.latest.first?.number == 40_000)
  }
}
