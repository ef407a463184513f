import CLinux
import Glibc
import Obligation
import System
import Testing

@testable import Confinement

@Suite(.enabled(if: Obligation.runs(geteuid() == 0, "root"), "only root can become somebody else"))
struct CredentialsTests {
  @Test func rootBecomesSomebodyElseForGood() async {
    await #expect(processExitsWith: .success) {
      let user = ServingUser(name: "somebody", user: 54_321, group: 54_322, groups: [54_322, 54_323])
      let credentials = Credentials(.becomes(user))
      try credentials.assume()
      // Only what root may: a file of root's, on the way back.
      let onTrial = (geteuid(), getuid(), EffectiveAccess.isGranted("/proc/1/environ", [.read]))
      let asRoot = credentials.asStarted { geteuid() }
      let between = geteuid()
      try credentials.drop()
      var groups = [gid_t](repeating: 0, count: 8)
      let count = unsafe getgroups(8, &groups)
      Attempts.finish([
        ("on trial", onTrial == (54_321, 0, false) ? 0 : 1, 0),
        ("as root", asRoot == 0 && between == 54_321 ? 0 : 1, 0),
        ("complete", portcullis_is_only(54_321, 54_322) == 1 ? 0 : 1, 0),
        ("groups", Set(groups.prefix(Int(count))) == [54_322, 54_323] ? 0 : 1, 0),
        ("back", portcullis_take_user(0) == -1 ? errno : 0, EPERM),
        ("back on trial", portcullis_take_effective_user(0) == -1 ? errno : 0, EPERM),
        ("a group", setgid(0) == -1 ? errno : 0, EPERM),
        (
          "status",
          CredentialsTests.status(has: [
            "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1",
          ]), 0
        ),
      ])
    }
  }

  /// Reading and writing what is others', and nothing else of what root may.
  @Test func rootThatStaysGivesUpWhatItDoesNotNeed() async {
    await #expect(processExitsWith: .success) {
      try Credentials(.staysRoot(isStated: true)).drop()
      Attempts.finish([
        (
          "status",
          CredentialsTests.status(has: [
            "CapEff:\t000000000000000a", "CapBnd:\t000000000000000a", "NoNewPrivs:\t1",
          ]), 0
        ),
        // Not by the C library's function, which changes all threads and ends a process where they differ.
        ("another user", Attempts.errno(of: "setresuid", 1, 1, 1), EPERM),
        ("setgroups", Attempts.errno(of: "setgroups", 0, 0), EPERM),
      ])
    }
  }

  /// 0 when this process's status has all the lines.
  static func status(has lines: [String]) -> Int32 {
    guard let bytes = try? WholeFile.read("/proc/thread-self/status") else { return 1 }
    let text = String(decoding: bytes, as: UTF8.self)
    return lines.allSatisfy { text.contains("\n\($0)\n") } ? 0 : 1
  }
}
