/// The part of `portcullis check` that looks at the admin listener: its place, its group, and who reaches it.
import Addresses
import Configuration
import Sockets
import System

struct AdminChecks {
  let files: GateFiles
  /// A gate answers on the control socket: then it is who has the address.
  let isRunning: Bool

  func check(_ report: inout CheckReport) {
    guard let address = files.admin.listen else { return }
    var problems: [String] = []
    _ = try? AdminUsers.find(files, tell: { problems.append($0) })
    for problem in problems { report.problem("admin", problem, .configuration) }
    if case .tcp(let endpoint) = address { checkPort(endpoint, &report) }
    if address.isExposed {
      report.warning(
        "admin", "\(address) is reached by others than this host: keep it in a network of operators alone")
    }
  }

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
