/// From root to the user of `RUN_AS`: first on trial, with a way back for the ports, and then for good.
///
/// Files of the gate are made and opened as that user from the beginning: root would follow a link that he has put
/// there. All of this happens before a second thread exists.
internal import CLinux
internal import Glibc
package import System

/// The process as it was started, and whom it is to become.
package struct Credentials: ~Copyable {
  private let decision: ServingDecision

  package init(_ decision: ServingDecision) {
    self.decision = decision
  }

  /// Groups for good, the effective user on trial; without root's capabilities from here on.
  package borrowing func assume() throws(SystemError) {
    guard case .becomes(let user) = decision else { return }
    // The list is read during the call alone.
    let failed = unsafe user.groups.withUnsafeBufferPointer { groups in
      unsafe portcullis_take_groups(user.group, groups.baseAddress, Int32(groups.count)) != 0
    }
    if failed { throw SystemError("setgroups and setresgid to \(user)") }
    if portcullis_take_effective_user(user.user) != 0 { throw SystemError("setresuid to \(user)") }
  }

  /// Does as root what only root may.
  package borrowing func asStarted<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard case .becomes(let user) = decision else { return try body() }
    if portcullis_take_effective_user(0) != 0 { fatalError("\(SystemError("setresuid back to root"))") }
    defer {
      // To go on as root by accident would be worse than not to go on.
      if portcullis_take_effective_user(user.user) != 0 {
        fatalError("\(SystemError("setresuid to \(user)"))")
      }
    }
    return try body()
  }

  /// No way back: user, groups, capabilities, and nothing that is executed could get any.
  package consuming func drop() throws(SystemError) {
    switch decision {
    case .asStarted:
      // What was given for the ports goes, as far as a service manager's filter lets it: there is nothing else, and
      // the bounding set, which takes a capability to change, counts only for what is executed.
      _ = portcullis_limit_capabilities(0)
      _ = portcullis_keep_capabilities(0)
    case .staysRoot:
      try Self.check("capabilities", portcullis_limit_capabilities(Self.ofFiles))
      try Self.check("capset", portcullis_keep_capabilities(Self.ofFiles))
    case .becomes(let user):
      try Self.check("setresuid back to root", portcullis_take_effective_user(0))
      try Self.check("capabilities", portcullis_limit_capabilities(0))
      try Self.check("setresuid to \(user)", portcullis_take_user(user.user))
      try Self.check("capset", portcullis_keep_capabilities(0))
      try Self.verify(user)
    }
    try Self.check("prctl of no_new_privs", portcullis_refuse_new_privileges())
    // A change of users makes the process dumpable anew where fs.suid_dumpable is set.
    try Self.check("prctl of dumpable", portcullis_hide_memory())
  }

  /// Nobody can read this process's memory but root, and no crash writes it down.
  package static func hideMemory() throws(SystemError) {
    try check("core dumps off", portcullis_hide_memory())
  }

  /// What was given up must not be there to be taken again.
  private static func verify(_ user: ServingUser) throws(SystemError) {
    guard portcullis_is_only(user.user, user.group) != 0 else {
      throw SystemError("the change to \(user) is not complete", EPERM)
    }
    guard portcullis_take_effective_user(0) != 0 else {
      throw SystemError("the change to \(user) can be taken back", EPERM)
    }
  }

  /// CAP_DAC_OVERRIDE and CAP_FOWNER (linux/capability.h): root who stays root still has to get at files of others.
  private static let ofFiles: UInt64 = 1 << 1 | 1 << 3

  private static func check(_ call: String, _ result: Int32) throws(SystemError) {
    if result != 0 { throw SystemError(call) }
  }
}

/// access(2) with the effective user, access control lists and capabilities included.
package enum EffectiveAccess {
  package static func isGranted(_ path: String, _ wishes: [FileStatus.Wish]) -> Bool {
    let bits = wishes.reduce(0) { $0 | $1.rawValue }
    // The path is read during the call alone.
    return unsafe portcullis_may_access(path, Int32(bits)) == 0
  }
}
