/// What this process has in memory.
internal import System

enum Memory {
  static func residentBytes() throws -> Int {
    let fields = try WholeFile.read("/proc/self/statm").split(separator: UInt8(ascii: " "))
    guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else {
      throw Broken("no /proc/self/statm")
    }
    return pages * 4096
  }
}
