/// The part of `portcullis check` about the host: how long its disk takes to make a change durable, and what its kernel has
/// of what the gate makes use of.
import Assembly
import Bytes
package import Confinement
import Glibc
import Prompt
import System
import Time

package struct HostChecks {
  /// The stores, with the setting that names each: what is measured is the disk below them.
  package let stores: [(setting: String, path: String)]

  package init(stores: [(setting: String, path: String)]) {
    self.stores = stores
  }

  package func check(_ report: inout CheckReport) {
    var folders: Set<String> = []
    for (setting, path) in stores where folders.insert(FileNeeds.folder(of: path)).inserted {
      checkDisk(setting, path, &report)
    }
    Self.checkKernel(KernelFeatures.read(), &report)
  }

  // MARK: The disk

  /// Each admission waits for a sync, shared with those of the same moment.
  private static let slowest: Duration = .milliseconds(100)
  private static let rounds = 5

  private func checkDisk(_ setting: String, _ path: String, _ report: inout CheckReport) {
    let worst: Duration
    do throws(SystemError) {
      worst = try Self.worstSync(beside: path)
    } catch {
      // The gate does not start where it cannot write.
      if let remedy = DiskSpace.remedy(for: error, at: path) {
        report.problem("disk", "\(setting)=\(PrintableText.field(path)): \(error); \(remedy)", .ioError)
      } else {
        report.warning(
          "disk",
          "\(setting)=\(PrintableText.field(path)): how long a sync takes cannot be measured: \(error); run check as the "
            + "gate's user or as root")
      }
      return
    }
    let found = "a sync takes at most \(worst.wholeMilliseconds) ms (of \(Self.rounds))"
    if worst > Self.slowest {
      report.warning(
        "disk",
        "\(found): players wait for one at each admission, and three seconds are 503; put \(setting) on a faster disk, or "
          + "see what else writes to it")
    } else {
      report.ok("disk", found)
    }
  }

  /// Writes a file beside the store, syncs it as the journal is synced, and takes it away.
  private static func worstSync(beside path: String) throws(SystemError) -> Duration {
    let name = "\(path).check.\(getpid())"
    // Left behind by a process of the same number that was killed.
    try? FileNames.remove(name)
    let file = try OwnedDescriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    defer { try? FileNames.remove(name) }
    let clock = SystemClock()
    var worst = Duration.zero
    for _ in 0..<rounds {
      try file.writeAll([UInt8](repeating: 0x20, count: 4096))
      let start = clock.monotonic()
      if fdatasync(file.number) != 0 { throw SystemError("fdatasync") }
      worst = max(worst, clock.monotonic() - start)
    }
    return worst
  }

  // MARK: The kernel

  package static func checkKernel(_ features: KernelFeatures, _ report: inout CheckReport) {
    let release = features.release.isEmpty ? "a kernel that /proc does not name" : "Linux \(features.release)"
    let losses = features.losses
    for loss in losses { report.warning("kernel", "\(PrintableText.field(release)): \(loss)") }
    if losses.isEmpty {
      let landlock = features.landlock.map { "Landlock \($0)" } ?? ""
      let filters = features.filtersCalls == true ? ", seccomp filters" : ""
      report.ok("kernel", "\(release): \(landlock)\(filters)")
    }
  }
}
