/// What the kernel tells of mounts and locks: lines of proc_pid_mountinfo(5) and proc_locks(5), read without
/// touching what they are about.

package enum MountTable {
  /// Whether something is mounted at exactly this path.
  /// - Parameter table: the text of `/proc/self/mountinfo`; the fifth field of a line is the place.
  package static func hasMount(at path: String, in table: String) -> Bool {
    table.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ", maxSplits: 5)
      return fields.count > 4 && unescaped(fields[4]) == path
    }
  }

  /// Space, tab, line feed and backslash stand as a backslash and three octal digits.
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

package enum LockTable {
  /// Whether a process holds a `flock(2)` of a file.
  ///
  /// The device is left out: what is seen of it differs from the lock's under overlays and btrfs.
  /// - Parameter table: the text of `/proc/locks`; a line that waits for a lock has `->` behind its number.
  package static func isHeld(inode: UInt64, by process: Int32, in table: String) -> Bool {
    table.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ", omittingEmptySubsequences: true)
      guard fields.count >= 6, fields[1] == "FLOCK", Int32(fields[4]) == process else { return false }
      return fields[5].split(separator: ":").last.flatMap { UInt64($0) } == inode
    }
  }

  /// Processes that hold a `flock(2)` of a file, as far as this one sees them: those of other namespaces have no number.
  package static func holders(inode: UInt64, in table: String) -> [Int32] {
    table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ", omittingEmptySubsequences: true)
      guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0,
        isHeld(inode: inode, by: process, in: String(line))
      else { return nil }
      return process
    }
  }
}

package enum UserMap {
  /// Of how many users of the host a process sees the numbers; of all others it sees one and the same.
  /// - Parameter table: the text of `/proc/self/uid_map` (user_namespaces(7)): first number inside, outside, how many.
  package static func count(in table: String) -> Int {
    table.split(separator: "\n").reduce(0) { count, line in
      let fields = line.split(separator: " ", omittingEmptySubsequences: true)
      guard fields.count == 3, let length = UInt32(fields[2]) else { return count }
      return count + Int(length)
    }
  }
}
