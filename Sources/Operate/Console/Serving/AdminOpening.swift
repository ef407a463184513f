/// Opens the admin listener: bound before privileges are given up, served when the gate is (docs/architecture.md, "To the
/// door").
package import Admin
package import Assembly
import Bytes
package import Configuration
import Confinement
package import Control
package import Gateway
import Glibc
package import Logging
import Prompt
import Sockets
import System
import Time
package import TLS

/// What serves the operator, until `stop`.
package final class OpenAdmin {
  let server: AdminServer
  package let access: AdminAccess
  let checks: GateChecks
  private let arrivals: GateArrivals
  private let history: HistoryKeeper
  /// With the port that the kernel chose where it was to choose one.
  package let address: GateConfiguration.AdminAddress
  private let operators: AdminOperators
  private var isExposed: Bool { address.isExposed }

  fileprivate init(
    server: AdminServer, access: AdminAccess, checks: GateChecks, arrivals: GateArrivals,
    history: HistoryKeeper, operators: AdminOperators, address: GateConfiguration.AdminAddress
  ) {
    self.history = history
    self.server = server
    self.arrivals = arrivals
    self.operators = operators
    self.access = access
    self.checks = checks
    self.address = address
  }

  /// All but where it listens.
  package func reload(_ configuration: GateConfiguration, _ users: AdminUsers, tls: TLSMaterial) throws {
    if isExposed { try server.reload(tls) }
    operators.update(users.people)
    access.reload(AdminAccess.Settings(configuration, users, tls))
    checks.reload(configuration)
    arrivals.reload(configuration)
  }

  /// When the gate has stopped, so that the history has all that came.
  package func stop() {
    server.stop()
    checks.stop()
    history.stop()
  }
}

package struct AdminOpening {
  let configuration: GateConfiguration
  package let users: AdminUsers
  let tokens: AdminTokens
  package let operators: AdminOperators
  let logger: Logger
  /// As the kernel says before the sandbox is raised.
  private let kernel = KernelFeatures.read()

  package init(
    _ configuration: GateConfiguration, _ users: AdminUsers, _ tokens: AdminTokens, _ logger: Logger
  ) {
    self.configuration = configuration
    self.users = users
    self.tokens = tokens
    self.logger = logger
    operators = AdminOperators(users.people)
  }

  /// As whom the gate serves, for it is a file of his folder; nil where there is none.
  package func socket() throws -> AdminListener? {
    guard case .unix(let path)? = configuration.admin.listen else { return nil }
    do {
      return AdminListener(try ControlServer.bind(path, setting: "ADMIN_LISTEN", group: users.group))
    } catch {
      complain(error.description)
      if case .listen(_, _, .failed(let failure)) = error, failure.call.hasPrefix("lchown") {
        let setting = configuration.admin.groupSetting
        complain("only a member of \(setting) may give it the socket: add the gate's user to the group")
      }
      throw ExitStatus.unavailable
    }
  }

  /// As who started the program, who may have more ports; nil where there is none.
  package func port() throws -> AdminListener? {
    guard case .tcp(let endpoint)? = configuration.admin.listen else { return nil }
    do {
      return try AdminListener.bind(endpoint)
    } catch {
      complain("cannot listen on ADMIN_LISTEN=\(endpoint): \(error); free the address, or set another")
      throw ExitStatus.unavailable
    }
  }

  package func serve(
    _ door: AdminListener, _ sources: ConsolePages.Sources, _ devices: Gateway.Devices?, _ tls: TLSMaterial,
    _ arrivals: GateArrivals
  ) throws -> OpenAdmin {
    let (gate, control) = (sources.gate, sources.control)
    guard let stated = configuration.admin.listen else {
      fatalError("a door of an admin listener that is off")
    }
    let address = door.endpoint.map(GateConfiguration.AdminAddress.tcp) ?? stated
    let clock = SystemClock()
    let (logger, pages) = (logger, SignInPages())
    let audit = devices.map { AdminAudit($0.registry, operators, logger) }
    let access = AdminAccess(
      AdminAccess.Settings(configuration, users, tls), tokens: tokens,
      file: AdminTokenFile(path: configuration.admin.tokensPath), clock: clock, entropy: KernelEntropy(),
      page: pages.page
    ) { event in
      event.write(to: logger)
      audit?.note(event)
    }
    let checks = GateChecks(
      gate: gate, devices: devices, configuration, isDraining: { control.isDraining }, clock: clock)
    do {
      try checks.begin()
      let server = try AdminServer.start(
        on: door,
        handler: GateAdmin(
          gate: gate, checks: checks,
          pages: ConsolePages(sources, checks: checks, kernel: kernel, operators: operators)), access: access,
        tls: address.isExposed ? tls : nil, arrivals: arrivals, clock: clock)
      let history = AdminHistory.keeper(gate, path: AdminHistory.path(configuration), clock: clock, logger)
      do throws(SystemError) {
        try history.begin()
      } catch {
        server.stop()
        throw error
      }
      control.open(AdminControl(access, operators, base: address.base(tls)))
      return OpenAdmin(
        server: server, access: access, checks: checks, arrivals: arrivals,
        history: history,
        operators: operators, address: address)
    } catch {
      door.remove()
      checks.stop()
      throw error
    }
  }
}
