/// Overwrites what no row uses within the pages of a file: SQLite leaves there, after a page was split, rows that moved to
/// another page, and `secure_delete` does not see those.
internal import CSQLite
package import SQL

extension Database {
  /// Moves what is in the log to the file, then overwrites the unused middle of the next pages with zeros. To be called while
  /// no transaction is open; between two calls the database may be changed over the same connection.
  ///
  /// The write goes past the log, as these bytes mean nothing: a write that a power cut tears leaves a part of them as they were.
  /// - Parameters:
  ///   - page: the first page, from 0.
  ///   - count: how many at most; reads 4 KiB each, as a rule.
  /// - Returns: the page to go on from, nil after the last one.
  package func scrub(from page: Int, count: Int) throws(SQLError) -> Int? {
    try checkpoint()
    // Pages in memory have the same unused bytes, and would bring them back.
    guard unsafe sqlite3_db_release_memory(handle) == SQLITE_OK else {
      throw unsafe SQLError(lastOf: handle, sqlite3_errcode(handle))
    }
    let file = try mainFile()
    let header = try file.read(at: 0, count: PageLayout.fileHeader)
    guard let layout = PageLayout(fileHeader: header) else {
      throw SQLError(.corrupt, code: SQLITE_CORRUPT, "the file does not begin as a database")
    }
    let pages = Int(try file.size() / Int64(layout.pageSize))
    let end = min(pages, page + count)
    var hasWritten = false
    for number in page..<max(page, end) {
      let offset = Int64(number) * Int64(layout.pageSize)
      let bytes = try file.read(at: offset, count: layout.pageSize)
      guard let unused = layout.unused(in: bytes, isFirst: number == 0) else { continue }
      guard bytes[unused].contains(where: { $0 != 0 }) else { continue }
      try file.writeZeros(at: offset + Int64(unused.lowerBound), count: unused.count)
      hasWritten = true
    }
    if hasWritten { try file.synchronize() }
    return end < pages ? end : nil
  }

  private func mainFile() throws(SQLError) -> MainFile {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let result = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard result == SQLITE_OK, let file = unsafe file, let methods = unsafe file.pointee.pMethods else {
      throw SQLError(.io, code: result, "the file of the database is not open")
    }
    return unsafe MainFile(file: file, methods: methods)
  }
}

/// The open file of a connection, through the file system that SQLite has it from. Valid while the connection is.
@safe private struct MainFile {
  let file: UnsafeMutablePointer<sqlite3_file>
  let methods: UnsafePointer<sqlite3_io_methods>

  func size() throws(SQLError) -> Int64 {
    var size: Int64 = 0
    try check(unsafe methods.pointee.xFileSize(file, &size), "the size of the file cannot be read")
    return size
  }

  func read(at offset: Int64, count: Int) throws(SQLError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    // Written to during the call alone.
    let result = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe methods.pointee.xRead(file, buffer.baseAddress, Int32(count), offset)
    }
    try check(result, "a page cannot be read")
    return bytes
  }

  func writeZeros(at offset: Int64, count: Int) throws(SQLError) {
    let zeros = [UInt8](repeating: 0, count: count)
    let result = unsafe zeros.withUnsafeBytes { buffer in
      unsafe methods.pointee.xWrite(file, buffer.baseAddress, Int32(count), offset)
    }
    try check(result, "the unused bytes of a page cannot be overwritten")
  }

  func synchronize() throws(SQLError) {
    try check(unsafe methods.pointee.xSync(file, SQLITE_SYNC_NORMAL), "the file cannot be synchronized")
  }

  private func check(_ result: Int32, _ message: String) throws(SQLError) {
    guard result == SQLITE_OK else { throw SQLError(code: result, message: message) }
  }
}

/// Where a page of rows has its unused middle (sqlite.org/fileformat2.html, "B-tree Pages").
struct PageLayout {
  static let fileHeader = 100
  let pageSize: Int
  /// Without what an extension reserves at the end of each page.
  let usableSize: Int

  /// - Parameter header: the file's first 100 bytes.
  init?(fileHeader header: [UInt8]) {
    guard header.count == Self.fileHeader, header.starts(with: "SQLite format 3\0".utf8) else { return nil }
    let size = Int(header[16]) << 8 | Int(header[17])
    pageSize = size == 1 ? 65_536 : size
    usableSize = pageSize - Int(header[20])
    guard pageSize >= 512, pageSize & (pageSize - 1) == 0, usableSize >= 480 else { return nil }
  }

  /// Between the pointers to the cells, which grow from the front, and the cells, which grow from the end. Nil for a page of
  /// another kind: it begins with a number of a page, and such a one would have to be above 33 million to look alike.
  func unused(in page: [UInt8], isFirst: Bool) -> Range<Int>? {
    let start = isFirst ? Self.fileHeader : 0
    guard page.count == pageSize else { return nil }
    let header: Int
    switch page[start] {
    case 2, 5: header = 12  // the inside of an index, of a table
    case 10, 13: header = 8  // their leaves
    default: return nil
    }
    let cells = Int(page[start + 3]) << 8 | Int(page[start + 4])
    let content = Int(page[start + 5]) << 8 | Int(page[start + 6])
    let (from, to) = (start + header + 2 * cells, content == 0 ? 65_536 : content)
    return from < to && to <= usableSize ? from..<to : nil
  }
}
