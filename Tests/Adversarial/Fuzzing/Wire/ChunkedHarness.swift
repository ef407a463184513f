/// Chunked bodies (RFC 9112 §7.1): the verdict does not depend on how the bytes come, and what is accepted is what its sizes
/// say, written out again in one way.
@testable internal import HTTPWire

enum ChunkedHarness {
  private static let limit = 4096

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let whole = read(bytes, every: bytes.count)
    for step in [1, 7] {
      let slow = read(bytes, every: step)
      try require(slow == whole, "\(step) at a time: \(slow) instead of \(whole)")
    }
    try require(whole.body.count <= limit, "\(whole.body.count) bytes of \(limit)")
    guard whole.isWhole else { return .refused }
    try require(whole.taken <= bytes.count, "\(whole.taken) bytes of \(bytes.count)")
    let model = obvious(Array(bytes.prefix(whole.taken)))
    try require(model == whole.body, "the sizes say \(model ?? [])")
    // Written again, in one chunk, it is the same.
    var again: [UInt8] = []
    if !whole.body.isEmpty {
      again = Array(String(whole.body.count, radix: 16).utf8) + [13, 10] + whole.body + [13, 10]
    }
    again += Array("0\r\n\r\n".utf8)
    try require(read(again, every: again.count).body == whole.body, "it reads otherwise when written again")
    return .accepted
  }

  private struct Reading: Equatable {
    var body: [UInt8] = []
    var taken = 0
    var isWhole = false
    var violation: ChunkedDecoder.Violation?
  }

  private static func read(_ bytes: [UInt8], every step: Int) -> Reading {
    var decoder = ChunkedDecoder(limit: limit)
    var reading = Reading()
    var end = 0
    while end < bytes.count, !decoder.isWhole {
      end = min(bytes.count, end + step)
      do throws(ChunkedDecoder.Violation) {
        reading.taken += try decoder.decode(bytes.span.extracting(reading.taken..<end), into: &reading.body)
      } catch {
        // How much of the data before it was handed out depends on the pieces, and is of no use to anybody.
        return Reading(violation: error)
      }
    }
    reading.isWhole = decoder.isWhole
    return reading
  }

  /// Split at line ends, with sizes by the standard library; nil where that finds no body.
  private static func obvious(_ bytes: [UInt8]) -> [UInt8]? {
    var body: [UInt8] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 13), end + 1 < rest.endIndex, rest[end + 1] == 10 {
      let digits = String(decoding: rest[..<end], as: UTF8.self)
      guard digits.utf8.count <= 8, let size = Int(digits, radix: 16), size >= 0 else { return nil }
      rest = rest[(end + 2)...]
      guard rest.count >= size + 2 else { return nil }
      let data = rest.prefix(size)
      rest = rest.dropFirst(size)
      guard Array(rest.prefix(2)) == [13, 10] else { return nil }
      rest = rest.dropFirst(2)
      body += data
      if size == 0 { return rest.isEmpty ? body : nil }
    }
    return nil
  }
}
