/// Whether another user could use a file, told by its modes (path_resolution(7)) without becoming that user.
///
/// Access control lists, capabilities and security modules are not looked at: they may grant or refuse more.
internal import CLinux
internal import Glibc
package import Time

/// A user with the groups that count.
package struct Account: Equatable, Sendable, CustomStringConvertible {
  package let name: String
  package let user: UInt32
  package let groups: Set<UInt32>

  package init(name: String, user: UInt32, groups: Set<UInt32>) {
    self.name = name
    self.user = user
    self.groups = groups
  }

  /// Nil when the system knows none of that name.
  package static func named(_ name: String) -> Account? { find(name, 0) }

  /// One without a name has no groups either.
  package static func of(user: UInt32) -> Account {
    find(nil, user) ?? Account(name: "without a name", user: user, groups: [])
  }

  package static var effectiveUser: UInt32 { geteuid() }

  /// As whom this process is, with the groups that it was given.
  package static var ofProcess: Account {
    let account = of(user: geteuid())
    var groups = [UInt32](repeating: 0, count: 256)
    // Writes no more than it is told that there is room for.
    let count = unsafe getgroups(Int32(groups.count), &groups)
    let given = groups.prefix(Int(max(0, count)))
    return Account(
      name: account.name, user: account.user, groups: account.groups.union(given).union([getegid()]))
  }

  package var description: String { "\(name) (\(user))" }

  private static func find(_ name: String?, _ user: UInt32) -> Account? {
    var user = user
    var found = [CChar](repeating: 0, count: 256)
    var groups = [UInt32](repeating: 0, count: 256)
    // Writes within the capacities that it is given; the name is only read.
    let count = unsafe portcullis_account(name, &user, &found, found.count, &groups, Int32(groups.count))
    guard count >= 0 else { return nil }
    let text = String(decoding: found.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return Account(name: text, user: user, groups: Set(groups.prefix(Int(count))))
  }
}

/// What the system calls the account with a number.
package enum AccountName: Equatable, Sendable {
  case named(String)
  /// There is no account with it.
  case nameless
  /// The directory of accounts does not answer.
  case unknown

  /// May wait for a directory of users.
  package static func of(user: UInt32) -> AccountName {
    var found = [CChar](repeating: 0, count: 256)
    // Writes within the capacity that it is given.
    let result = unsafe portcullis_user_name(user, &found, found.count)
    switch result {
    case 1:
      return .named(String(decoding: found.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    case 0: return .nameless
    default: return .unknown
    }
  }

  package var text: String? {
    if case .named(let name) = self { name } else { nil }
  }
}

/// Owner and mode of a file, as far as access goes.
package struct FileStatus: Equatable, Sendable {
  package enum Wish: UInt32, Sendable {
    case read = 4
    case write = 2
    /// Of a directory: to reach what is in it.
    case search = 1
  }

  package let user: UInt32
  package let group: UInt32
  /// Permission bits, and set-id and sticky.
  package let mode: UInt32
  package let inode: UInt64

  package init(user: UInt32, group: UInt32, mode: UInt32, inode: UInt64 = 0) {
    self.user = user
    self.group = group
    self.mode = mode
    self.inode = inode
  }

  /// Of what a symbolic link leads to.
  package static func of(_ path: String) throws(SystemError) -> FileStatus {
    var status = stat()
    // Fills the structure, and reads the path during the call alone.
    guard unsafe stat(path, &status) == 0 else { throw SystemError("stat") }
    return FileStatus(
      user: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777, inode: UInt64(status.st_ino))
  }

  /// One class of bits counts, the first that matches; to the superuser none does.
  package func allows(_ wish: Wish, _ account: Account) -> Bool {
    if account.user == 0 { return true }
    let shift: UInt32 = account.user == user ? 6 : account.groups.contains(group) ? 3 : 0
    return mode >> shift & wish.rawValue != 0
  }

  /// Whether nobody but the owner, who is trusted, and the groups of `account` reads it, and nobody but the owner writes it.
  package func isKept(for account: Account) -> Bool {
    mode & 0o026 == 0 && (mode & 0o040 == 0 || account.groups.contains(group))
  }
  /// A sticky directory's files are safe from those who do not own them.
  package var isOthersToWrite: Bool { mode & 0o022 != 0 && mode & 0o1000 == 0 }
}

/// By which a file that was changed or replaced is told from what it was.
package struct FileStamp: Equatable, Sendable {
  /// From 1970 to 9999.
  package let modifiedAt: UnixTime
  private static let lastSecond: Int64 = 253_402_300_799
  /// Of the second.
  private let nanoseconds: Int
  package let size: Int64
  private let inode: UInt64

  /// Of what a symbolic link leads to.
  package static func of(_ path: String) throws(SystemError) -> FileStamp {
    var status = stat()
    // Fills the structure, and reads the path during the call alone.
    guard unsafe stat(path, &status) == 0 else { throw SystemError("stat") }
    // Some file systems keep whatever number somebody has set.
    let seconds = min(max(Int64(status.st_mtim.tv_sec), 0), Self.lastSecond)
    return FileStamp(
      modifiedAt: UnixTime(milliseconds: seconds * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000),
      nanoseconds: status.st_mtim.tv_nsec, size: Int64(status.st_size), inode: UInt64(status.st_ino))
  }
}

/// A step of a path that an account cannot take.
package struct AccessObstacle: Equatable, Sendable {
  package let path: String
  package let wish: FileStatus.Wish

  package init(path: String, wish: FileStatus.Wish) {
    self.path = path
    self.wish = wish
  }

  /// The first on the way to a file and at the file itself; nil when there is none.
  /// - Parameters:
  ///   - path: absolute, and without symbolic links.
  ///   - look: throws for a step that is not there.
  package static func first(
    at path: String, _ wishes: [FileStatus.Wish], _ account: Account,
    look: (String) throws(SystemError) -> FileStatus = FileStatus.of
  ) throws(SystemError) -> AccessObstacle? {
    var folder = "/"
    let steps = path.split(separator: "/")
    for step in steps {
      if try !look(folder).allows(.search, account) { return AccessObstacle(path: folder, wish: .search) }
      folder += (folder == "/" ? "" : "/") + step
    }
    let status = try look(folder)
    for wish in wishes where !status.allows(wish, account) { return AccessObstacle(path: folder, wish: wish) }
    return nil
  }
}

package enum RealPath {
  /// Absolute and without symbolic links.
  package static func of(_ path: String) throws(SystemError) -> String {
    // realpath allocates its answer, which is copied and freed here.
    guard let real = unsafe realpath(path, nil) else { throw SystemError("realpath") }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
