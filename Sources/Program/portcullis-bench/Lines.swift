/// Lists that the load generator has written: a line each.
internal import System

extension WholeFile {
  /// The lines of a file of at most 64 MB, the empty ones left out.
  static func lines(_ path: String) throws(SystemError) -> [ArraySlice<UInt8>] {
    try read(path, limit: 64 << 20).split(separator: UInt8(ascii: "\n"))
  }
}
