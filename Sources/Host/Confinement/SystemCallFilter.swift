/// The calls that a serving gate may make (seccomp(2)), by libseccomp: whatever else is asked for, fails.
///
/// Nothing is killed for a call, as libraries try new ones and go back to older ones: what is not in
/// `SystemCallTable` does not exist (ENOSYS), and what somebody who got in would want is refused (EPERM). The kernel
/// logs both where it keeps an audit log.
internal import CLinux
internal import CSeccomp
internal import Glibc
package import System

@safe package struct SystemCallFilter: ~Copyable {
  private let context: UnsafeMutableRawPointer

  deinit {
    unsafe seccomp_release(context)
  }

  private init(owning context: UnsafeMutableRawPointer) {
    unsafe self.context = context
  }

  /// False where the kernel has no seccomp filters.
  package static var isAvailable: Bool { seccomp_api_get() >= 1 && WholeFile.hasSystemCallFilters }

  /// Makes the rules, which takes a while, and changes nothing yet.
  package static func prepare() throws(SystemError) -> SystemCallFilter {
    guard let context = unsafe seccomp_init(portcullis_seccomp_answer(ENOSYS)) else {
      throw SystemError("seccomp_init", ENOMEM)
    }
    let filter = unsafe SystemCallFilter(owning: context)
    try filter.configure()
    for name in SystemCallTable.allowed { try filter.add(name, SCMP_ACT_ALLOW, []) }
    for name in SystemCallTable.refused { try filter.add(name, portcullis_seccomp_answer(EPERM), []) }
    for rule in SystemCallTable.conditional(process: getpid()) {
      try filter.add(rule.name, SCMP_ACT_ALLOW, rule.conditions)
    }
    return filter
  }

  /// For the calling thread and all that it starts; there is no way to take it off. Sets no_new_privs.
  package borrowing func install() throws(SystemError) {
    unsafe try Self.check("seccomp_load", seccomp_load(context))
  }

  private borrowing func configure() throws(SystemError) {
    // Calls of another architecture are made by nothing that is honest.
    unsafe try Self.check(
      "seccomp_attr_set", seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS))
    // Both are extras that an old kernel or library need not know: the log, and a search tree instead of a list.
    _ = unsafe seccomp_attr_set(context, SCMP_FLTATR_CTL_LOG, 1)
    _ = unsafe seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2)
  }

  /// A name that this architecture has no call for is left out.
  private borrowing func add(
    _ name: String, _ action: UInt32, _ conditions: [SystemCallTable.Condition]
  ) throws(SystemError) {
    let number = unsafe seccomp_syscall_resolve_name(name)
    if number < 0 { return }
    let comparisons = conditions.map { condition in
      switch condition {
      case .equals(let argument, let value):
        scmp_arg_cmp(arg: argument, op: SCMP_CMP_EQ, datum_a: value, datum_b: 0)
      case .masked(let argument, let mask, let value):
        scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
      }
    }
    // The comparisons are read during the call alone.
    let result = unsafe comparisons.withUnsafeBufferPointer { buffer in
      unsafe seccomp_rule_add_array(context, action, number, UInt32(buffer.count), buffer.baseAddress)
    }
    try Self.check("seccomp_rule_add of \(name)", result)
  }

  /// libseccomp returns negative numbers of errno.
  private static func check(_ call: String, _ result: Int32) throws(SystemError) {
    if result < 0 { throw SystemError(call, -result) }
  }
}

extension WholeFile {
  /// Told by what the kernel says of this very process.
  fileprivate static var hasSystemCallFilters: Bool {
    // Without /proc the attempt will tell.
    guard let status = try? read("/proc/self/status") else { return true }
    return String(decoding: status, as: UTF8.self).contains("\nSeccomp:")
  }
}
