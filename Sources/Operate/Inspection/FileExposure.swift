/// Whether a file of the gate's is open to others than the gate, and what puts that right without shutting the gate out.
import Bytes
package import System

package struct FileExposure {
  /// As whom the gate serves.
  package let gate: Account

  /// Adds what is to be said of the file's mode. A file that is not there has none.
  package func check(_ path: String, as name: String, _ report: inout CheckReport) {
    guard let status = try? FileStatus.of(path) else { return }
    let (shown, mode) = (PrintableText.field(path), "0" + String(status.mode, radix: 8))
    if status.isKept(for: gate) {
      let readers = status.mode & 0o040 == 0 ? "its owner's alone" : "its owner's and the gate's group's"
      report.ok(name, "\(shown) is \(readers) (mode \(mode))")
    } else {
      report.warning(
        name, "\(shown) is open to other users (mode \(mode)): \(remedy(status, shown))")
    }
  }

  /// One that leaves the file readable for the gate, as whom it is readable now.
  private func remedy(_ status: FileStatus, _ shown: String) -> String {
    if gate.user == 0 || gate.user == status.user { return "chmod 600 \(shown)" }
    if gate.groups.contains(status.group) { return "chmod 640 \(shown)" }
    return "chown \(gate.name) \(shown) && chmod 600 \(shown)"
  }
}
