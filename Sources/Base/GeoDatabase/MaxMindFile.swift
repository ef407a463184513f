/// One file in MaxMind's format, opened by libmaxminddb and held in memory; read by several threads.
internal import Addresses
internal import CMaxMindDB

package struct GeoDatabaseError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What the file is or has, to be said behind its name.
  package let description: String
  /// Nothing is known of what is in it.
  package let isUnreadable: Bool

  init(_ description: String, isUnreadable: Bool = false) {
    self.description = description
    self.isUnreadable = isUnreadable
  }
}

/// Nothing of it changes once it is open, and the library only reads it: so it may be used by several threads.
@safe package final class MaxMindFile: @unchecked Sendable {
  private let database: UnsafeMutablePointer<MMDB_s>
  /// What the file says it is, such as `GeoLite2-City`.
  package let type: String
  /// Seconds since 1970.
  package let builtAt: UInt64

  private init(owning database: UnsafeMutablePointer<MMDB_s>, _ metadata: MaxMindMetadata) {
    unsafe self.database = database
    type = metadata.type
    builtAt = metadata.builtAt
  }

  deinit {
    unsafe MMDB_close(database)
    unsafe database.deallocate()
  }

  /// Reads the whole file.
  package static func open(_ path: String) throws(GeoDatabaseError) -> MaxMindFile {
    let metadata = try MaxMindMetadata.read(path)
    let database = UnsafeMutablePointer<MMDB_s>.allocate(capacity: 1)
    unsafe database.initialize(to: MMDB_s())
    // Path and structure are used during the call; from then on the structure is this file's until it closes it.
    let result = unsafe path.withCString { unsafe portcullis_maxminddb_open($0, database) }
    guard result == MMDB_SUCCESS else {
      unsafe database.deallocate()
      throw GeoDatabaseError(reason(result))
    }
    return unsafe MaxMindFile(owning: database, metadata)
  }

  /// The values at these paths in the record of an address; nil where there is none.
  func values(of address: IPAddress, _ paths: [[StaticString]]) -> [MaxMindData.Value?] {
    // An IPv4 address is looked up as such, however the socket has it.
    let address = address.unmapped.networkBytes
    // The bytes are read during the call.
    let offset = unsafe address.withUnsafeBufferPointer { buffer in
      unsafe portcullis_maxminddb_find(database, buffer.baseAddress, Int32(buffer.count))
    }
    guard offset >= 0, let start = unsafe database.pointee.data_section else {
      return paths.map { _ in nil }
    }
    // The section is within the copy that the library closes with the database, which this object outlives.
    let section = unsafe Span(_unsafeStart: start, count: Int(database.pointee.data_section_size))
    let data = MaxMindData(section)
    var values: [MaxMindData.Value?] = []
    for path in paths { values.append(data.value(at: Int(offset), path)) }
    return values
  }

  private static func reason(_ result: Int32) -> String {
    // Texts of the library's, for every number.
    let text = unsafe MMDB_strerror(result).map { unsafe String(cString: $0) }
    return "is refused by libmaxminddb (\(text ?? "error \(result)"))"
  }
}
