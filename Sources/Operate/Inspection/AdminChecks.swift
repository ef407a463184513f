/// The part of `portcullis check` that looks at the admin listener: its place, its group, and who reaches it.
import Addresses
import Admin
import Assembly
package import Configuration
import Prompt
import Sockets
import System
import Time

package struct AdminChecks {
  package let files: GateFiles
  /// A gate answers on the control socket: then it is who has the address.
  package let isRunning: Bool

  package init(files: GateFiles, isRunning: Bool) {
    self.files = files
    self.isRunning = isRunning
  }

  package func check(_ report: inout CheckReport) {
    guard let address = files.admin.listen else { return }
    var problems: [String] = []
    _ = try? AdminUsers.find(files, tell: { problems.append($0) })
    let tokens = try? AdminTokensByHand.read(files.admin, tell: { problems.append($0) })
    for problem in problems { report.problem("admin", problem, .configuration) }
    if let tokens { checkTokens(tokens.tokens, now: SystemClock().wall(), &report) }
    if case .tcp(let endpoint) = address { checkPort(endpoint, &report) }
    if address.isExposed {
      report.warning(
        "admin", "\(address) is reached by others than this host: keep it in a network of operators alone")
    }
  }

  /// What ends soon would be missed by who has it only then.
  private func checkTokens(_ tokens: [AdminToken], now: UnixTime, _ report: inout CheckReport) {
    let good = tokens.filter { $0.isGood(now) }
    report.ok("admin", "\(files.admin.operators.count) operators beside root, \(good.count) tokens")
    for token in good where token.expiresAt.milliseconds - now.milliseconds < Self.notice {
      report.warning("admin", "the token \(token.name) ends at \(token.expiresAt.timestamp): make another")
    }
  }

  /// Two weeks.
  private static let notice: Int64 = 14 * 86_400_000

  private func checkPort(_ endpoint: Endpoint, _ report: inout CheckReport) {
    do throws(SystemError) {
      try Listener.probe(endpoint)
      report.ok("admin", "\(endpoint) is free")
    } catch {
      if isRunning {
        report.ok("admin", "\(endpoint) is taken, while a gate is running")
      } else {
        report.problem(
          "admin", "\(endpoint): \(error); free the address, or set ADMIN_LISTEN to another", .unavailable)
      }
    }
  }
}
