/// What of the kernel the gate makes use of where it is there, and what it loses where it is not (docs/security.md, "Least
/// privilege"; docs/architecture-threads.md, "Threads").
internal import CLinux
internal import Glibc
internal import System

package struct KernelFeatures: Equatable, Sendable {
  /// As `uname -r` says it.
  package let release: String
  /// The version of Landlock; nil without it.
  package let landlock: Int?
  /// Whether system calls can be filtered; nil when /proc does not say.
  package let filtersCalls: Bool?

  package init(release: String, landlock: Int?, filtersCalls: Bool?) {
    self.release = release
    self.landlock = landlock
    self.filtersCalls = filtersCalls
  }

  package static func read() -> KernelFeatures {
    let version = portcullis_landlock_version()
    let release = (try? WholeFile.read("/proc/sys/kernel/osrelease", limit: 4096)) ?? []
    // There where the kernel has filters at all (seccomp(2), "/proc interfaces").
    var filters: Bool?
    do throws(SystemError) {
      filters = !(try WholeFile.read("/proc/sys/kernel/seccomp/actions_avail", limit: 4096)).isEmpty
    } catch {
      filters = error.number == ENOENT && !release.isEmpty ? false : nil
    }
    return KernelFeatures(
      release: String(decoding: release.filter { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self),
      landlock: version < 0 ? nil : Int(version), filtersCalls: filters)
  }

  /// Its major and minor number; nil for what is no release.
  package var numbers: (major: Int, minor: Int)? {
    let parts = release.split(separator: ".", maxSplits: 2)
    guard parts.count >= 2, let major = Int(parts[0]), let minor = Int(parts[1].prefix { $0.isNumber }) else {
      return nil
    }
    return (major, minor)
  }

  /// What the gate does without, in the operator's words; empty on a kernel that has everything.
  package var losses: [String] {
    var losses: [String] = []
    switch landlock {
    case nil: losses.append("no Landlock (since 5.13): the process may write wherever its user may")
    case let version? where version < 3:
      losses.append(
        "Landlock \(version) (3 since 6.2): files elsewhere that its user may write can be cut short, and any TCP port called"
      )
    case let version? where version < 4:
      losses.append("Landlock \(version) (4 since 6.7): any TCP port can be called, not the game's alone")
    case let version? where version < 6:
      losses.append("Landlock \(version) (6 since 6.12): other processes of its user can be sent signals")
    case _?: break
    }
    if filtersCalls == false {
      losses.append("no seccomp filters (CONFIG_SECCOMP_FILTER): every system call stays open to the process")
    }
    if let numbers, numbers < (6, 12) {
      losses.append(
        "older than 6.12, where threads choose their slices: beside busy programs event loops wake later")
    }
    return losses
  }
}
