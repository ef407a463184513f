/// The key file of mud-web-proxy 4 (docs/backup.md, "From another gate"): read the same wherever a piece ends, and no key
/// comes in under an identifier that is not its own.
///
/// A point's own x stands in for its hash, so that the input can have keys that fit.
internal import Bytes
@testable internal import KeyStore

enum GoldfinchHarness {
  private static let limit = 8

  private struct Read: Equatable {
    var keys: [ForeignKey] = []
    var leftOut: [KeyLeftOut] = []
    var leftOutCount = 0
    var error: ForeignFileError?
  }

  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let whole = read(bytes, piece: max(bytes.count, 1))
    let cut = 1 + bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % 257
    // Small pieces cost the square of what they are taken from.
    for piece in [max(cut, bytes.count / 64), bytes.count / 2 + 1] {
      try require(read(bytes, piece: piece) == whole, "in pieces of \(piece) it reads otherwise")
    }
    try require(whole.keys.count <= limit, "more keys than there may be")
    try require(Set(whole.keys.map(\.identifier)).count == whole.keys.count, "a key twice")
    for key in whole.keys {
      try require(KeyIdentifier(key.publicKey.x) == key.identifier, "a key under another's identifier")
    }
    if let error = whole.error {
      let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
      try require((1...lines).contains(error.place.line) && error.place.column >= 1, "\(error.place)")
      return .refused
    }
    return .accepted
  }

  /// As `GoldfinchFile` passes a file: what was not taken comes again, with more.
  private static func read(_ bytes: [UInt8], piece: Int) -> Read {
    var parser = GoldfinchParser(limit: limit, isOnCurve: { $0.y[31] != 0 }) { $0.x }
    var read = Read()
    var waiting: [UInt8] = []
    var place = 0
    do throws(ForeignFileError) {
      while true {
        let next = bytes[place..<min(place + piece, bytes.count)]
        place += next.count
        waiting += next
        let taken = try parser.parse(waiting.span, isLast: place == bytes.count)
        waiting.removeFirst(taken)
        if place == bytes.count { break }
      }
    } catch {
      read.error = error
    }
    (read.keys, read.leftOut, read.leftOutCount) = (parser.keys, parser.leftOut, parser.leftOutCount)
    return read
  }
}
