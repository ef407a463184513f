/// The key file (docs/key-store.md, "Snapshot"): read the same wherever a piece ends, and written as it was read.
internal import Bytes
@testable internal import KeyStore

enum SnapshotHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let whole = StoreContents.parse(bytes, piece: max(bytes.count, 1))
    // Each piece may begin a member anew, so small ones cost the square of what they are taken from.
    let cut = 1 + bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % 257
    for piece in [max(cut, bytes.count / 64), bytes.count / 2 + 1] {
      try requireSame(whole, StoreContents.parse(bytes, piece: piece), piece: piece)
    }
    guard case .success(let table) = whole else { return .refused }
    try require(table.count == StoreContents.entries(table).count, "a wrong count of keys")

    let text = StoreContents.text(table)
    guard case .success(let again) = StoreContents.parse(text, piece: text.count) else {
      throw BrokenProperty("what was written cannot be read")
    }
    try require(StoreContents(again) == StoreContents(table), "what was written reads otherwise")
    try require(StoreContents.text(again) == text, "written twice, it differs")
    let lines = table.count + (table.pseudonymKeyMadeAt == KeyTable.Entry.never ? 2 : 3)
    try require(text.count { $0 == UInt8(ascii: "\n") } == lines, "not one key a line")
    return .accepted
  }

  private static func requireSame(
    _ whole: Result<KeyTable, SnapshotDamage>, _ pieces: Result<KeyTable, SnapshotDamage>, piece: Int
  ) throws(BrokenProperty) {
    switch (whole, pieces) {
    case (.success(let whole), .success(let pieces)):
      try require(StoreContents(whole) == StoreContents(pieces), "in pieces of \(piece) it reads otherwise")
    case (.failure(let whole), .failure(let pieces)):
      try require(whole == pieces, "in pieces of \(piece): \(pieces) instead of \(whole)")
    default: throw BrokenProperty("damaged only whole, or only in pieces of \(piece)")
    }
  }
}
