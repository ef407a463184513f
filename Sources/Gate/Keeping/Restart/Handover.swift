/// The snapshot of all sessions in one file without a name, which the store holds between two processes: each loop appends what
/// its sessions have, and the next process takes up one after the other.
///
/// | bytes | a record's |
/// |---|---|
/// | 8 | checksum of all that follows |
/// | 8 | sequence that the session's slot has |
/// | 4 | slot |
/// | 4 | how long the snapshot is |
/// | | the snapshot |
internal import Bytes
internal import Synchronization
package import System

/// Being written.
package final class Handover: Sendable {
  private let file: OwnedDescriptor
  private let length = Mutex(HandoverRecord.head.count)

  private init(_ file: consuming OwnedDescriptor) {
    self.file = file
  }

  /// A new one, empty. A sandbox may forbid it, so it is made before; it takes no memory until something is appended.
  package static func create() throws(SystemError) -> Handover {
    let file = try SharedMemory.file(name: "luggage")
    try file.write(HandoverRecord.head, at: 0)
    return Handover(file)
  }

  /// For the store; the file's own, open as long as this is.
  package var descriptorNumber: Int32 { file.number }

  /// From any thread. Where there is no memory for it nothing is appended, and the session goes on as after a crash.
  /// - Parameter sequence: of the session's slot, in which nothing changes any more.
  package func append(_ snapshot: RestartSnapshot, slot: Int, sequence: UInt64) throws(SystemError) {
    let record = HandoverRecord.coded(snapshot.coded(), slot: slot, sequence: sequence)
    try length.withLock { (length) throws(SystemError) in
      try file.write(record, at: length)
      length += record.count
    }
  }
}

/// As the next process finds it.
package struct HandoverReader: ~Copyable {
  private let file: OwnedDescriptor
  private var places: [Int: (sequence: UInt64, start: Int, count: Int)] = [:]

  /// Looks where the records stand. What ends early ends the list.
  package init(_ descriptor: consuming OwnedDescriptor) throws(SystemError) {
    file = descriptor
    let end = try file.length()
    guard try file.read(HandoverRecord.head.count, at: 0) == HandoverRecord.head else { return }
    var position = HandoverRecord.head.count
    while let record = HandoverRecord(try file.read(HandoverRecord.bytes, at: position)) {
      let next = position + HandoverRecord.bytes + record.count
      if next > end { break }
      // A later one is the session's last word.
      places[record.slot] = (record.sequence, position, next - position)
      position = next
    }
  }

  package var slots: [Int] { places.keys.sorted() }

  /// The snapshot of a slot that says it was handed over. Nil if there is none: none was written, it is of another time, or
  /// it does not check.
  package func snapshot(of slot: Int, sequence: UInt64) -> RestartSnapshot? {
    guard let place = places[slot], place.sequence == sequence,
      let record = try? file.read(place.count, at: place.start), record.count == place.count,
      HandoverRecord.checks(record)
    else { return nil }
    return try? RestartSnapshot(coded: Array(record[HandoverRecord.bytes...]))
  }
}

/// What stands in front of each snapshot.
private struct HandoverRecord {
  let sequence: UInt64
  let slot: Int
  let count: Int

  /// Nil for what is none, as after the last one.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.bytes else { return nil }
    var fields = FieldReader(bytes)
    do throws(KeptError) {
      _ = try fields.number(UInt64.self)
      sequence = try fields.number()
      slot = Int(try fields.number(UInt32.self))
      count = Int(try fields.number(UInt32.self))
    } catch {
      return nil
    }
  }

  static func coded(_ snapshot: [UInt8], slot: Int, sequence: UInt64) -> [UInt8] {
    var body = FieldWriter(capacity: bytes + snapshot.count)
    body.put(sequence)
    body.put(UInt32(slot))
    body.put(UInt32(snapshot.count))
    body.put(bare: snapshot)
    var record = FieldWriter(capacity: 8 + body.bytes.count)
    record.put(Checksum.of(body.bytes.span, seed: seed))
    record.put(bare: body.bytes)
    return record.bytes
  }

  static func checks(_ record: [UInt8]) -> Bool {
    var fields = FieldReader(record)
    guard let sum = try? fields.number(UInt64.self) else { return false }
    return sum == Checksum.of(record.span.extracting(8..<record.count), seed: seed)
  }

  static let bytes = 24
  static let head = Array("portcullis luggage 1\n\0\0\0".utf8)
  private static let seed: UInt64 = 0x6C75_6767_6167_6531
}
