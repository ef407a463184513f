/// What a file in MaxMind's format says of itself (MaxMind DB File Format Specification 2.0, "Database Metadata"), looked
/// over before libmaxminddb sees the file.
///
/// Version 1.7 goes down into nested metadata without a limit, and counts the bytes of the search tree in 32
/// bits, so that a file of the right numbers would have it read where no file is.
internal import Glibc
internal import System

struct MaxMindMetadata {
  let type: String
  let builtAt: UInt64

  /// No larger than what has to be kept in memory for it. Those of cities have some 60 MB.
  private static let sizeLimit = 1 << 29
  /// In the last part of the file, behind a mark.
  private static let sectionLimit = 128 << 10
  private static let mark: [UInt8] = [0xAB, 0xCD, 0xEF] + Array("MaxMind.com".utf8)
  /// Between search tree and data.
  private static let separator = 16

  static func read(_ path: String) throws(GeoDatabaseError) -> MaxMindMetadata {
    let size: Int
    let end: [UInt8]
    do throws(SystemError) {
      (size, end) = try self.end(of: path)
    } catch {
      throw GeoDatabaseError("cannot be read: \(error)", isUnreadable: true)
    }
    guard let start = lastMark(in: end) else { throw GeoDatabaseError("is no file in MaxMind's format") }
    let bytes = Array(end[start...])
    let section = MaxMindData(bytes.span)
    guard section.isSound(at: 0) else { throw GeoDatabaseError("has damaged metadata") }
    guard case .number(let nodes)? = section.value(at: 0, ["node_count"]),
      (1...UInt64(UInt32.max)).contains(nodes),
      case .number(let bits)? = section.value(at: 0, ["record_size"]), [24, 28, 32].contains(bits),
      case .number(let version)? = section.value(at: 0, ["ip_version"]), [4, 6].contains(version),
      // Two records a node.
      Int(nodes) * Int(bits) / 4 + separator <= size - (end.count - start) - mark.count
    else { throw GeoDatabaseError("has no search tree that its metadata would fit") }
    var type = ""
    if case .text(let text)? = section.value(at: 0, ["database_type"]) { type = text }
    var builtAt: UInt64 = 0
    if case .number(let number)? = section.value(at: 0, ["build_epoch"]) { builtAt = number }
    return MaxMindMetadata(type: type, builtAt: builtAt)
  }

  /// The file's size, and as much of its end as metadata may be in.
  private static func end(of path: String) throws(SystemError) -> (Int, [UInt8]) {
    let file = try OwnedDescriptor.open(reading: path)
    let size = lseek(file.number, 0, SEEK_END)
    guard size >= 0 else { throw SystemError("lseek \(path)") }
    guard size <= sizeLimit else { throw SystemError("open \(path)", EFBIG) }
    guard lseek(file.number, max(0, size - sectionLimit), SEEK_SET) >= 0 else {
      throw SystemError("lseek \(path)")
    }
    var end: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(size, sectionLimit) + 1)
    while end.count <= sectionLimit {
      let count = try file.read(into: &buffer)
      if count == 0 { break }
      end += buffer[..<count]
    }
    return (size, end)
  }

  /// Behind the mark that comes last, as the library takes it.
  private static func lastMark(in bytes: [UInt8]) -> Int? {
    guard bytes.count >= mark.count else { return nil }
    for start in stride(from: bytes.count - mark.count, through: 0, by: -1)
    where bytes[start] == mark[0] && bytes[start..<(start + mark.count)].elementsEqual(mark) {
      return start + mark.count
    }
    return nil
  }
}
