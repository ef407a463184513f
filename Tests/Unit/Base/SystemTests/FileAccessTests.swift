import System
import Testing

/// Who may use a file by owner, groups and mode (path_resolution(7)).
struct FileAccessTests {
  private static let account = Account(name: "gate", user: 990, groups: [990, 44])

  @Test(arguments: [
    // Owner, group, mode, and what the account may: read, write, search.
    (UInt32(990), UInt32(0), UInt32(0o400), "r--"), (990, 0, 0o700, "rwx"), (990, 0, 0o077, "---"),
    // The owner's class alone counts for the owner, and the group's for a member.
    (990, 990, 0o047, "---"), (0, 990, 0o640, "r--"), (0, 44, 0o030, "-wx"), (0, 44, 0o707, "---"),
    (0, 0, 0o604, "r--"), (0, 0, 0o770, "---"), (0, 0, 0o1777, "rwx"),
  ])
  func oneClassOfBitsCounts(user: UInt32, group: UInt32, mode: UInt32, expected: String) {
    let status = FileStatus(user: user, group: group, mode: mode)
    let wishes: [(FileStatus.Wish, String)] = [(.read, "r"), (.write, "w"), (.search, "x")]
    let found = wishes.map { status.allows($0.0, Self.account) ? $0.1 : "-" }.joined()
    #expect(found == expected)
    let superuser = Account(name: "root", user: 0, groups: [])
    #expect(wishes.allSatisfy { status.allows($0.0, superuser) })
  }

  private static let tree: [String: FileStatus] = [
    "/": FileStatus(user: 0, group: 0, mode: 0o755),
    "/etc": FileStatus(user: 0, group: 0, mode: 0o755),
    "/etc/keys": FileStatus(user: 0, group: 44, mode: 0o750),
    "/etc/keys/own.pem": FileStatus(user: 990, group: 0, mode: 0o400),
    "/etc/keys/root.pem": FileStatus(user: 0, group: 0, mode: 0o600),
    "/root": FileStatus(user: 0, group: 0, mode: 0o700),
    "/root/open.pem": FileStatus(user: 0, group: 0, mode: 0o644),
  ]

  private func obstacle(_ path: String, _ wishes: FileStatus.Wish...) throws(SystemError) -> AccessObstacle? {
    try AccessObstacle.first(at: path, wishes, Self.account) { path throws(SystemError) in
      guard let status = Self.tree[path] else { throw SystemError("stat", 2) }
      return status
    }
  }

  @Test func theFirstStepThatCannotBeTakenIsNamed() throws {
    #expect(try obstacle("/etc/keys/own.pem", .read) == nil)
    #expect(
      try obstacle("/etc/keys/own.pem", .read, .write)
        == AccessObstacle(path: "/etc/keys/own.pem", wish: .write))
    #expect(
      try obstacle("/etc/keys/root.pem", .read) == AccessObstacle(path: "/etc/keys/root.pem", wish: .read))
    #expect(try obstacle("/root/open.pem", .read) == AccessObstacle(path: "/root", wish: .search))
    #expect(try obstacle("/", .search) == nil)
    #expect(throws: SystemError("stat", 2)) { try obstacle("/etc/none", .read) }
  }

  /// The bit of others to write counts for nothing in a sticky directory such as `/tmp`.
  @Test(arguments: [
    (UInt32(0o600), false), (0o640, false), (0o620, true), (0o602, true), (0o1777, false), (0o711, false),
  ])
  func tellsWhatOthersMayWrite(mode: UInt32, isWritten: Bool) {
    #expect(FileStatus(user: 0, group: 0, mode: mode).isOthersToWrite == isWritten)
  }

  /// As packages have a key: root's, for the group of the gate to read.
  @Test(arguments: [
    (UInt32(0o600), UInt32(7), true), (0o640, 7, true), (0o640, 8, false), (0o440, 7, true),
    (0o660, 7, false),
    (0o644, 7, false), (0o604, 7, false), (0o602, 7, false), (0o610, 8, true),
  ])
  func tellsWhatIsKept(mode: UInt32, group: UInt32, isKept: Bool) {
    let gate = Account(name: "gate", user: 5, groups: [7])
    #expect(FileStatus(user: 0, group: group, mode: mode).isKept(for: gate) == isKept)
  }

  @Test func knowsTheSystemsAccounts() throws {
    let root = try #require(Account.named("root"))
    #expect(root.user == 0 && root.groups.contains(0))
    #expect(Account.of(user: 0) == root)
    #expect(Account.named("no-such-user") == nil)
    #expect(Account.of(user: 3_999_999_999).groups.isEmpty)
  }
}

/// Lines as proc_pid_mountinfo(5) and proc_locks(5) show them.
struct KernelTablesTests {
  @Test(arguments: [
    ("/", true), ("/data/keys.json", true), ("/data", false), ("/data/keys.jso", false),
    ("/with space", true), ("/with\\space", true), ("/with\\040space", false), ("", false),
  ])
  func findsMounts(path: String, expected: Bool) {
    let table = """
      22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      36 22 8:1 /srv/keys.json /data/keys.json rw - ext4 /dev/sda1 rw
      37 22 0:5 / /with\\040space rw - tmpfs tmpfs rw
      38 22 0:5 / /with\\134space rw - tmpfs tmpfs rw
      39 22
      """
    #expect(MountTable.hasMount(at: path, in: table) == expected)
  }

  @Test(arguments: [
    (UInt64(1234), Int32(10), true), (1234, 11, false), (1235, 10, false), (77, 12, false), (88, 13, false),
    (0, 0, false),
  ])
  func findsLocks(inode: UInt64, process: Int32, expected: Bool) {
    let table = """
      1: FLOCK  ADVISORY  WRITE 10 fe:01:1234 0 EOF
      2: POSIX  ADVISORY  WRITE 12 fe:01:77 0 EOF
      3: FLOCK  ADVISORY  READ 14 fe:01:88 0 EOF
      3: -> FLOCK  ADVISORY  WRITE 13 fe:01:88 0 EOF
      4: FLOCK
      """
    #expect(LockTable.isHeld(inode: inode, by: process, in: table) == expected)
    #expect(LockTable.holders(inode: inode, in: table).contains(process) == expected)
  }

  @Test(arguments: [
    ("         0          0 4294967295\n", 4_294_967_295), ("0 0 1\n990 990 1\n", 2),
    ("0 100000 65536\n", 65_536),
    ("", 0), ("0 0\n", 0), ("0 0 x\n", 0), ("0 0 -1\n", 0),
  ])
  func countsUsers(table: String, expected: Int) {
    #expect(UserMap.count(in: table) == expected)
  }
}
