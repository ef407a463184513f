/// A journal segment being written.
internal import Bytes
internal import System
internal import Time

struct JournalSegment: Sendable {
  let number: UInt64
  private let file: any StoreFile
  private let salt: [UInt8]
  private var batches: UInt64 = 0
  private(set) var length: Int64

  /// Creates the file and makes its header and its name durable before anybody can write a batch.
  init(
    creating number: UInt64, restarts: Bool, _ paths: StorePaths, _ files: any StoreFiles,
    _ entropy: any Entropy
  ) throws(SystemError) {
    let header = JournalHeader(restarts: restarts, entropy: entropy)
    let path = paths.segment(number)
    self.number = number
    salt = header.salt
    length = Int64(JournalHeader.length)
    file = try files.open(path, .create)
    do {
      try file.writeAll(header.bytes.span, at: 0)
      try file.synchronize()
      try files.synchronizeDirectory(paths.directory)
    } catch {
      // Nothing was ever written to it; should it stay, it counts for nothing.
      try? files.remove(path)
      throw error
    }
  }

  /// Writes the batch and makes it durable. After an error the segment must not be used again: the kernel may
  /// have dropped what it could not write, and a later sync would succeed without it.
  mutating func append(_ facts: [UInt8]) throws(SystemError) {
    let bytes = JournalBatch.bytes(sequence: batches + 1, facts: facts, salt: salt)
    try file.writeAll(bytes.span, at: length)
    try file.synchronize()
    batches += 1
    length += Int64(bytes.count)
  }
}
