/// The console of the demonstration's gate, made as `serve` makes it, and open until somebody at the terminal has seen
/// enough.
import Admin
import Assembly
import Configuration
import Commands
import Console
import Control
import Demo
import Gateway
import Glibc
import Logs
import Synchronization
import Time

final class DemoConsole: ConsoleVisit {
  private let input: PromptInput
  /// The console's button was pressed: there is no file that could have changed.
  private let wantsReload = ReloadWish()
  private var open: (admin: OpenAdmin, settings: SettingsInForce, insides: Demonstration.Insides)?

  private final class ReloadWish: Sendable {
    let isThere = Atomic(false)
  }

  init(_ input: PromptInput) {
    self.input = input
  }

  func open(_ insides: Demonstration.Insides) throws -> String {
    let configuration = insides.loaded.configuration
    let logger = insides.log.logger()
    let settings = SettingsInForce(insides.loaded, file: nil) { [wantsReload] in
      wantsReload.isThere.store(true, ordering: .relaxed)
    }
    // Whoever is at the terminal is the operator, and nobody else can ask.
    let users = AdminUsers(people: AdminOperators.People(names: [geteuid(): Self.operatorName]))
    let opening = AdminOpening(configuration, users, AdminTokens(), logger)
    guard let door = try opening.port() else { fatalError("a demonstration without ADMIN_LISTEN") }
    let actions = OperatorActions(logger: logger)
    let control = GateControl(
      gate: insides.gate, registry: RegistryControl(insides.devices.registry, actions), actions: actions,
      clock: SystemClock(), process: Int(getpid()))
    let admin = try opening.serve(
      door,
      ConsolePages.Sources(
        gate: insides.gate, control: control, store: insides.store, pseudonyms: nil, settings: settings,
        hasDevices: true, log: logger, name: "demo"), insides.devices, insides.tls,
      GateArrivals(configuration, insides.log))
    open = (admin, settings, insides)
    return admin.address.base(insides.tls) + admin.access.makeLink(for: Self.operatorName)
  }

  private static let operatorName = "you"

  func isOver(within time: Duration) throws -> Bool {
    if wantsReload.isThere.exchange(false, ordering: .relaxed), let open {
      open.settings.begin()
      open.settings.take(
        open.insides.loaded, open.insides.loaded.configuration, .taken(changed: [], waiting: []))
    }
    return try input.next(within: time) != .quiet
  }

  func close() {
    open?.admin.stop()
    open = nil
  }
}
