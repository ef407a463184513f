/// As whom the gate serves: the user of `RUN_AS` with his groups, or the user who started it.
internal import Bytes
internal import CLinux
internal import Glibc
package import System

/// A user with the group and the further groups that his processes have.
package struct ServingUser: Equatable, Sendable, CustomStringConvertible {
  package let name: String
  package let user: UInt32
  package let group: UInt32
  /// Supplementary ones.
  package let groups: [UInt32]

  package init(name: String, user: UInt32, group: UInt32, groups: [UInt32]) {
    self.name = name
    self.user = user
    self.group = group
    self.groups = groups
  }

  /// For looking at modes of files.
  package var account: Account { Account(name: name, user: user, groups: Set(groups + [group])) }

  package var description: String { "\(name) (\(user):\(group))" }

  /// - Parameters:
  ///   - user: a name or else a number, as for chown(1).
  ///   - group: likewise; nil for the one that the account has.
  package static func find(user: String, group: String?) throws(ServingProblem) -> ServingUser {
    var groupNumber: UInt32?
    if let group {
      groupNumber = number(ofGroup: group)
      if groupNumber == nil { throw .unknownGroup(group) }
    }
    guard let account = account(user) else {
      guard let number = number(user) else { throw .unknownUser(user) }
      guard let groupNumber else { throw .groupMissing(user) }
      return ServingUser(name: user, user: number, group: groupNumber, groups: [groupNumber])
    }
    let primary = groupNumber ?? account.group
    return ServingUser(
      name: account.name, user: account.user, group: primary, groups: groups(of: account.name, primary))
  }

  /// Whose a file is; a number need not have an account, and then has the file's group alone.
  package static func owner(user: UInt32, group: UInt32) -> ServingUser {
    guard let account = find(nil, user) else {
      return ServingUser(name: "\(user)", user: user, group: group, groups: [group])
    }
    return ServingUser(
      name: account.name, user: user, group: account.group, groups: groups(of: account.name, account.group))
  }

  /// By name, else as a number, which need not have an account.
  static func number(ofUser text: String) -> UInt32? { find(text, 0)?.user ?? number(text) }

  /// By name, else by number; nil when the system has neither.
  private static func account(_ text: String) -> (name: String, user: UInt32, group: UInt32)? {
    find(text, 0) ?? number(text).flatMap { find(nil, $0) }
  }

  private static func find(_ name: String?, _ user: UInt32) -> (name: String, user: UInt32, group: UInt32)? {
    var user = user
    var found = [CChar](repeating: 0, count: 256)
    var groups = [UInt32](repeating: 0, count: 256)
    // Writes within the capacities that it is given; the name is only read.
    let count = unsafe portcullis_account(name, &user, &found, found.count, &groups, Int32(groups.count))
    guard count > 0 else { return nil }
    let text = String(decoding: found.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return (text, user, groups[0])
  }

  private static func groups(of name: String, _ primary: UInt32) -> [UInt32] {
    var groups = [UInt32](repeating: 0, count: 256)
    // Writes within the capacity that it is given.
    let count = unsafe portcullis_groups(name, primary, &groups, Int32(groups.count))
    return Array(groups.prefix(Int(max(0, count))))
  }

  static func number(ofGroup text: String) -> UInt32? {
    var group: UInt32 = 0
    // One number is written, and the name is only read.
    if unsafe portcullis_group(text, &group) == 0 { return group }
    return number(text)
  }

  /// The greatest number stands for "as it is" in the calls of the kernel, and is nobody.
  private static func number(_ text: String) -> UInt32? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(text), number != .max
    else { return nil }
    return number
  }
}

/// What is to be done about the user at the start.
package enum ServingDecision: Equatable, Sendable {
  /// Not started as root, and asked for nobody else.
  case asStarted
  /// Root, and stays so: because `RUN_AS` says so, or outside production because it says nothing.
  case staysRoot(isStated: Bool)
  case becomes(ServingUser)

  /// - Parameters:
  ///   - effectiveUser: who the process is now, with `effectiveGroup`.
  ///   - wanted: the two parts of `RUN_AS`, the second if it was given; nil without a setting.
  package static func make(
    effectiveUser: UInt32, effectiveGroup: UInt32, wanted: (user: String, group: String?)?,
    isProduction: Bool
  ) throws(ServingProblem) -> ServingDecision {
    guard let wanted else {
      guard effectiveUser == 0 else { return .asStarted }
      if isProduction { throw .rootInProduction }
      return .staysRoot(isStated: false)
    }
    let user: ServingUser
    do throws(ServingProblem) {
      user = try ServingUser.find(user: wanted.user, group: wanted.group)
    } catch {
      // Our own number needs no account and no group.
      if case .groupMissing = error, UInt32(wanted.user) == effectiveUser, effectiveUser != 0 {
        return .asStarted
      }
      throw error
    }
    if effectiveUser == 0 {
      return user.user == 0 ? .staysRoot(isStated: true) : .becomes(user)
    }
    guard user.user == effectiveUser, wanted.group == nil || user.group == effectiveGroup else {
      throw .notRoot(wanted: user.description, user: effectiveUser, group: effectiveGroup)
    }
    return .asStarted
  }

  /// As the process is now.
  package static func make(
    wanted: (user: String, group: String?)?, isProduction: Bool
  ) throws(ServingProblem) -> ServingDecision {
    try make(
      effectiveUser: geteuid(), effectiveGroup: getegid(), wanted: wanted, isProduction: isProduction)
  }
}

/// Why nobody can be found to serve as. The texts go behind `RUN_AS`.
package enum ServingProblem: Error, Equatable, Sendable, CustomStringConvertible {
  case rootInProduction
  case unknownUser(String)
  case unknownGroup(String)
  /// A number without an account, which would have a group.
  case groupMissing(String)
  case notRoot(wanted: String, user: UInt32, group: UInt32)

  package var description: String {
    switch self {
    case .rootInProduction:
      "RUN_AS is not set, and the gate would stay root in production: set RUN_AS to the user that owns the key "
        + "store's folder, such as RUN_AS=portcullis, or to root if that is meant"
    case .unknownUser(let name):
      "RUN_AS: there is no user \(PrintableText.field(name)): correct the name, or create the user"
    case .unknownGroup(let name):
      "RUN_AS: there is no group \(PrintableText.field(name)): correct the name, or create the group"
    case .groupMissing(let number):
      "RUN_AS=\(PrintableText.field(number)) is a number without an account, and so without a group: write "
        + "user:group"
    case .notRoot(let wanted, let user, let group):
      "RUN_AS is \(wanted), but the gate was started as \(user):\(group), and only root can become somebody "
        + "else: start it as root, or as that user, or remove RUN_AS"
    }
  }
}
