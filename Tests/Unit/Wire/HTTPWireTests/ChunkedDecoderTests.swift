import Testing

@testable import HTTPWire

/// RFC 9112 §7.1, whole, cut anywhere, byte by byte, and with something after the end.
@Suite struct ChunkedDecoderTests {
  private struct Reading: Equatable {
    var body: [UInt8] = []
    var taken = 0
    var isWhole = false
    var violation: ChunkedDecoder.Violation?
  }

  /// - Parameter cuts: where a piece ends.
  private static func read(_ bytes: [UInt8], limit: Int = 100, cuts: [Int] = []) -> Reading {
    var decoder = ChunkedDecoder(limit: limit)
    var reading = Reading()
    for end in cuts + [bytes.count] where !decoder.isWhole {
      do throws(ChunkedDecoder.Violation) {
        reading.taken += try decoder.decode(
          bytes.span.extracting(reading.taken..<end), into: &reading.body)
      } catch {
        reading.violation = error
        break
      }
    }
    reading.isWhole = decoder.isWhole
    return reading
  }

  private static func read(_ text: String, limit: Int = 100) -> Reading {
    read(Array(text.utf8), limit: limit)
  }

  @Test(arguments: [
    ("0\r\n\r\n", ""), ("2\r\n{}\r\n0\r\n\r\n", "{}"), ("1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", "{}"),
    ("00000002\r\n{}\r\n00000000\r\n\r\n", "{}"), ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
    ("A\r\n\r\n0\r\n\r\n0\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n0\r\n"),
  ])
  func good(text: String, body: String) {
    let bytes = Array(text.utf8)
    let whole = Reading(body: Array(body.utf8), taken: bytes.count, isWhole: true)
    #expect(Self.read(bytes) == whole)
    for cut in 0..<bytes.count {
      #expect(!Self.read(Array(bytes.prefix(cut))).isWhole)
      #expect(Self.read(bytes, cuts: [cut]) == whole)
    }
    #expect(Self.read(bytes, cuts: Array(0..<bytes.count)) == whole)
    // What comes after the end is the next request's.
    #expect(Self.read(bytes + Array("GET / HTTP/1.1".utf8)) == whole)
  }

  @Test(
    arguments: [
      ("\r", .size), ("g", .size), ("-", .size), ("+", .size), ("0x", .size), (" ", .size), ("1_", .size),
      ("\n", .size), (";", .size), ("2\u{0}", .size),
      ("000000002", .sizeLength), ("100000000", .sizeLength),
      ("2;", .extension), ("2 ", .extension), ("2\t", .extension), ("0;", .extension),
      ("2\n", .lineEnd), ("2\rX", .lineEnd), ("2\r\r", .lineEnd), ("0\n", .lineEnd),
      ("0\r\n\n", .lineEnd), ("0\r\n\r\r", .lineEnd), ("0\r\n\rG", .lineEnd),
      ("2\r\n{}\n", .dataEnd), ("2\r\n{}0", .dataEnd), ("2\r\n{}\r0", .dataEnd), ("1\r\n{}", .dataEnd),
      ("0\r\nX", .trailer), ("0\r\n0", .trailer), ("0\r\n ", .trailer),
    ] as [(String, ChunkedDecoder.Violation)])
  func refusedAtTheFirstBadByte(text: String, violation: ChunkedDecoder.Violation) {
    let bytes = Array(text.utf8)
    #expect(Self.read(bytes).violation == violation)
    #expect(Self.read(bytes, cuts: Array(0..<bytes.count)).violation == violation)
    #expect(Self.read(Array(bytes.dropLast())).violation == nil)
  }

  /// Below, at and above; the sizes alone are judged, before data comes.
  @Test func length() {
    for limit in 3...8 {
      let text = "3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n"
      #expect(Self.read(text, limit: limit).violation == (limit < 6 ? .bodyLength : nil))
    }
    #expect(Self.read("7\r", limit: 6).violation == .bodyLength)
    #expect(Self.read("ffffffff\r", limit: 16 << 20).violation == .bodyLength)
    #expect(Self.read("7", limit: 6).violation == nil)
  }

  @Test func codes() {
    for violation in ChunkedDecoder.Violation.allCases {
      #expect(violation.code.status.rawValue == (violation == .bodyLength ? 413 : 400))
    }
  }

  /// Random bodies in random chunks, cut at random, against the obvious reading: the sizes that were written.
  @Test func whatIsWrittenIsRead() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      var body: [UInt8] = []
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let chunk = (0..<Int.random(in: 1...40, using: &random)).map { _ in UInt8.random(in: 0...255) }
        body += chunk
        bytes +=
          Array(String(chunk.count, radix: 16, uppercase: Bool.random()).utf8) + [13, 10] + chunk + [13, 10]
      }
      bytes += Array("0\r\n\r\n".utf8)
      let cuts = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
      let reading = Self.read(bytes, limit: 200, cuts: cuts)
      #expect(reading == Reading(body: body, taken: bytes.count, isWhole: true), "cuts \(cuts)")
    }
  }
}
