/// Brings a store's files into a table: first the snapshot, then every journal segment in order (docs/key-store.md,
/// "Recovery").
internal import System

/// The names of a store's files, all in one directory.
struct StorePaths: Sendable {
  let snapshot: String
  let directory: String
  private let name: String

  init(_ path: String) {
    snapshot = path
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    name = String(parts.last ?? "")
    let parent = parts.dropLast().joined(separator: "/")
    directory = parts.count == 1 ? "." : (parent.isEmpty ? "/" : parent)
  }

  /// The directory, even where its own name is a link.
  var insideDirectory: String { directory + "/." }
  var temporary: String { snapshot + ".new" }
  var probe: String { snapshot + ".probe" }
  var lock: String { snapshot + ".lock" }
  /// There once a snapshot was made.
  var made: String { snapshot + ".made" }
  /// There once a key for pseudonyms was made.
  var pseudonymMade: String { snapshot + ".pseudonym-key-made" }
  func segment(_ number: UInt64) -> String { "\(snapshot).journal.\(number)" }

  /// Of a name in the directory that is one of this store's segments.
  func segmentNumber(_ entry: String) -> UInt64? {
    let prefix = name + ".journal."
    guard entry.hasPrefix(prefix), let number = UInt64(entry.dropFirst(prefix.count)),
      entry == "\(prefix)\(number)"
    else { return nil }
    return number
  }
}

struct StoreLoader {
  let files: any StoreFiles
  let paths: StorePaths

  struct Segment: Sendable {
    let number: UInt64
    let bytes: Int
    let reading: SegmentReading
  }

  struct Snapshot: Sendable {
    let bytes: Int64
    let unknownEnvironments: Int
  }

  /// Oldest first.
  func segmentNumbers() throws(KeyStoreError) -> [UInt64] {
    try naming(paths.directory) { () throws(SystemError) in try files.list(paths.directory) }
      .compactMap(paths.segmentNumber).sorted()
  }

  func loadSnapshot(_ file: any StoreFile, into table: inout KeyTable) throws(KeyStoreError) -> Snapshot {
    var parser = SnapshotParser()
    var buffer: [UInt8] = []
    var read: Int64 = 0
    var pieceLength = Self.pieceLength
    var isLast = false
    while !isLast {
      let count = try naming(paths.snapshot) { () throws(SystemError) in
        try file.read(pieceLength - buffer.count, at: read, into: &buffer)
      }
      isLast = count == 0
      read += Int64(count)
      if !isLast, buffer.count < pieceLength { continue }
      let taken: Int
      do throws(SnapshotDamage) {
        taken = try parser.parse(buffer.span, isLast: isLast, into: &table)
      } catch {
        throw .damagedSnapshot(file: paths.snapshot, offset: error.offset, reason: error.reason)
      }
      if taken == 0, !isLast {
        pieceLength *= 2
        guard pieceLength <= Self.longestMember else {
          throw .damagedSnapshot(
            file: paths.snapshot, offset: parser.offset, reason: "a member without an end")
        }
      }
      buffer.removeSubrange(..<taken)
    }
    return Snapshot(bytes: read, unknownEnvironments: parser.unknownEnvironments)
  }

  func replay(_ number: UInt64, _ bytes: [UInt8], into table: inout KeyTable) throws(KeyStoreError) -> Segment
  {
    do {
      let reading = try SegmentReading(bytes.span) { table.apply($0) }
      return Segment(number: number, bytes: bytes.count, reading: reading)
    } catch {
      let file = paths.segment(number)
      if let version = error.version { throw .unsupportedJournal(file: file, version: version) }
      throw .damagedJournal(file: file, offset: Int64(error.offset), reason: error.reason)
    }
  }

  /// Only the last batch of all can be torn, because a batch is written once the one before it is durable.
  /// The one exception is a segment that could not be written; the segment after it says that it restarts.
  func checkOrder(_ segments: [Segment]) throws(KeyStoreError) {
    var torn: Segment?
    for segment in segments {
      if segment.reading.restarts { torn = nil }
      if let torn, segment.reading.batches > 0 {
        throw .damagedJournal(
          file: paths.segment(torn.number), offset: Int64(torn.reading.validLength),
          reason: "an invalid batch, although valid ones follow in \(paths.segment(segment.number))")
      }
      if segment.reading.isTorn { torn = torn ?? segment }
    }
  }

  static let pieceLength = 1 << 20
  /// One key with all that others may have added to it.
  static let longestMember = 16 << 20
}
