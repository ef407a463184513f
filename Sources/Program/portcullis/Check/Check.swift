/// `portcullis check`: everything an operator can get wrong, looked at before or beside a running gate
/// (docs/running.md, "Commands").
import AppAttest
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Confinement
import Control
import Crypto
import Inspection
import KeyStore
import Prompt
import Sockets
import System
import Time

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check configuration, certificates, clock, root, store, disk, kernel, backend and addresses.",
    discussion: """
      One line a check: ok, warning or problem, what was looked at, and what was found. Works with and \
      without a running gate and changes nothing: the file that it writes beside the key store, to see how long the disk \
      takes, it removes again. A backend that does not answer within \
      BACKEND_CONNECT_TIMEOUT is a problem, although the gate would start and answer 503.

      With --user, and for the superuser, also looks whether the gate's user gets at all files, by their owners \
      and modes: the user named, else that of RUN_AS, else that of the running gate, else the owner of the key \
      store's folder.

      Ends with 0 only where the gate starts: with status 78 when configuration, certificates or store have to be put \
      right, else with 74 when a disk is full, else with 69 when the backend or an address is unavailable. With --health asks the running gate \
      instead and ends with 0 only when it answers that it is well and not draining.

      With --policy or --risk looks at that file of a policy alone, without settings. Each problem is named with its rule, \
      its member, what stands there and what to write instead; then it ends with status 78.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "Only ask the running gate over CONTROL_SOCKET whether it is well.")
  var health = false

  @Option(help: "Look at modes and owners for this user, as whom the gate will run.")
  var user: String?

  @Option(help: "Look at this file of APPROVAL_POLICY alone.", completion: .file())
  var policy: String?

  @Flag(help: "The file of --policy is one of ASSURANCE_POLICY.")
  var assurance = false

  @Option(help: "Look at this file of RISK_POLICY alone.", completion: .file())
  var risk: String?

  func validate() throws {
    guard [health, user != nil, policy != nil, risk != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("--health, --user, --policy and --risk are for one look each: give one of them")
    }
    if assurance, policy == nil { throw ValidationError("--assurance needs a file: name it by --policy") }
  }

  func run() throws {
    if let policy {
      return try assurance ? PolicyChecks.assurance(policy) : PolicyChecks.approvals(policy)
    }
    if let risk { return try PolicyChecks.risk(risk) }
    if health { return try checkHealth() }
    let account = try account()
    var report = CheckReport()
    SettingsChecks.clock(&report)
    switch SettingsChecks.load(try Startup.file(settings.read()), &report) {
    case .success(let configuration): check(configuration, account, &report)
    case .failure(let failure):
      // What else there is to mend.
      let access = accessChecks(failure.files, running: nil, account, &report)
      CertificateChecks(now: SystemClock().wall(), isWhole: false).check(failure.files, &report)
      DeviceChecks(files: failure.files, exposure: access.exposure).check(&report)
      access.check(&report)
      if let file = PseudonymKeyFile(failure.files) {
        PseudonymKeyCheck(file: file, store: nil, exposure: access.exposure).check(&report)
      }
    }
    try report.print()
    if let status = report.status { throw status }
  }

  private func check(_ configuration: GateConfiguration, _ account: Account?, _ report: inout CheckReport) {
    SettingsChecks.charsets(configuration, &report)
    CertificateChecks(now: SystemClock().wall(), isWhole: true).check(configuration.files, &report)
    let running = running(configuration)
    let access = accessChecks(configuration.files, running: running?.process, account, &report)
    DeviceChecks(files: configuration.files, exposure: access.exposure).check(&report)
    checkStore(configuration, running, access.exposure, &report)
    let devices = configuration.devices.path.map { [("DEVICES_PATH", $0)] } ?? []
    HostChecks(stores: [("ATTESTED_KEYS_PATH", configuration.store.path)] + devices).check(&report)
    access.check(&report)
    if let owner = access.stranger() {
      report.problem(
        "store",
        "process \(owner) has it locked and does not answer at \(configuration.controlSocketPath): stop it, or "
          + "set CONTROL_SOCKET as it has", .unavailable)
    }
    ReachChecks(configuration: configuration, isRunning: running != nil).check(&report)
    AdminChecks(files: configuration.files, isRunning: running != nil).check(&report)
  }

  private func accessChecks(
    _ files: GateFiles, running: Int?, _ account: Account?, _ report: inout CheckReport
  ) -> AccessChecks {
    AccessChecks(
      files: files, file: settings.path, running: running, named: account,
      wanted: wantedUser(files, &report))
  }

  private func account() throws -> Account? {
    guard let user else { return nil }
    if let account = Account.named(user) { return account }
    complain("no user is called \(PrintableText.field(user))")
    throw ExitStatus.usage
  }

  /// Whom the gate would become; a problem if there is no such user.
  private func wantedUser(_ files: GateFiles, _ report: inout CheckReport) -> ServingUser? {
    guard let runAs = files.runAs else { return nil }
    do {
      return try ServingUser.find(user: runAs.user, group: runAs.group)
    } catch {
      report.problem("user", error.description, .configuration)
      return nil
    }
  }

  private func checkHealth() throws {
    let answer = try ControlAccess.ask(
      .health, try settings.values(), within: ControlClient.briefPatience)
    guard case .health(let health) = answer else { throw ControlAccess.unexpected(answer) }
    var output = Output()
    try output.line("\(health.status.rawValue)  version \(health.version)  up \(health.uptimeSeconds)s")
    try output.flush()
    if health.status != .ok { throw ExitStatus.unavailable }
  }

  /// The gate that answers on this configuration's control socket.
  private func running(_ configuration: GateConfiguration) -> GateHealth? {
    guard
      case .health(let health)? = try? ControlClient.ask(
        .health, at: configuration.controlSocketPath, within: ControlClient.briefPatience)
    else { return nil }
    return health
  }

  private func checkStore(
    _ configuration: GateConfiguration, _ running: GateHealth?, _ exposure: FileExposure,
    _ report: inout CheckReport
  ) {
    let keyFile = PseudonymKeyFile(path: configuration.store.pseudonymKeyPath)
    do {
      let contents = try KeyStoreReader.read(configuration.store.path, witness: keyFile.path)
      PseudonymKeyCheck(file: keyFile, store: contents, exposure: exposure).check(&report)
      var unknown = 0
      contents.forEach { _, record in if record.environment == nil { unknown += 1 } }
      if unknown > 0 {
        report.warning(
          "store", "\(unknown) keys do not say for which environment they were attested and are accepted")
      }
      if let (keys, first) = contents.malformedAppIDs() {
        report.warning(
          "store",
          "\(keys) keys, \(first.short) the first, have an appId that is no App ID and admit nobody until their "
            + "devices register again: correct it, or remove the member if any configured app will do")
      }
      let owner = running.map { ", in use by the running gate (process \($0.process))" } ?? ""
      report.ok("store", "\(contents.count) keys in \(PrintableText.field(configuration.store.path))\(owner)")
    } catch {
      report.problem("store", "\(error)", .configuration)
      PseudonymKeyCheck(file: keyFile, store: nil, exposure: exposure).check(&report)
    }
  }
}
