/// Which process has a store's lock: for one that cannot take it, and has to say which one to stop.
internal import Bytes
internal import System

package struct StoreOwner: Equatable, Sendable, CustomStringConvertible {
  package let process: Int32
  /// As it was started, where the kernel says so.
  package let command: String?

  package init(process: Int32, command: String? = nil) {
    self.process = process
    self.command = command
  }

  /// A running process.
  package static func of(_ process: Int32) -> StoreOwner {
    let arguments = (try? WholeFile.read("/proc/\(process)/cmdline", limit: 65_536)) ?? []
    let text = String(decoding: arguments.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self)
    let command = text.split(separator: " ").joined(separator: " ")
    return StoreOwner(process: process, command: command.isEmpty ? nil : command)
  }

  /// - Parameter noted: what the lock's file says. It is right as long as the file is the lock's own; the kernel knows better
  ///   where it was copied, or where that process has ended and another holds the lock.
  static func find(inode: UInt64, noted: Int32?) -> StoreOwner? {
    let table = (try? WholeFile.read("/proc/locks")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let holders = LockTable.holders(inode: inode, in: table)
    if let noted, holders.contains(noted) { return .of(noted) }
    if let holder = holders.first { return .of(holder) }
    return noted.map { StoreOwner(process: $0) }
  }

  package var description: String {
    "process \(process)" + (command.map { " (\(PrintableText.field($0, limit: 160)))" } ?? "")
  }
}
