/// `portcullis simulate bench`: many devices at once, and how long the gate took (docs/running.md, "Commands").
import ArgumentParser
import Bench
import Device
import Dialing
import Glibc
import Identity
import PortcullisProtocol
import Prompt
internal import System
import Time

struct SimulateBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract:
      "Register many devices, have them admitted, send messages round, and report how long that took.",
    discussion: """
      Three parts, each with its count, its rate and percentiles: registering --devices new keys; admissions \
      (challenge, assertion, upgrade) for --duration seconds; messages that go to the game and come back, over \
      --sessions open sessions for --duration seconds. The game must return what it is sent: BACKEND=echo:.

      The defaults keep within what a gate as it comes allows one address. For more, raise its CHALLENGE_RATE, \
      REGISTER_RATE, HANDSHAKE_RATE and MAX_CONNECTIONS_PER_ADDRESS; more than MAX_SESSIONS_PER_KEY sessions a \
      device push each other out. When the gate says 429 and when to come again, that is waited for and told, \
      and no failure. At a rate, an admission or message counts from the moment when it was due, so that a \
      stall shows in all that had to wait for it.

      The keys live in memory only and stay registered: use a gate with a key store for tests, or \
      `portcullis keys prune`.

      Exit status: 0 all went well, 64 wrong usage, 65 unusable data, 69 something failed or the gate is \
      unavailable, 77 refused by the gate.
      """)

  typealias Bounds = BenchPlan.Bounds
  typealias Defaults = BenchPlan.Defaults

  @Option(help: "Where the gate is: wss://host[:port][/path].")
  var url = GateURL(host: "localhost", port: 8443)

  @Option(help: "Trust the authorities in this PEM file instead of the system's.", completion: .file())
  var ca: String?

  @Option(help: "Trust the certificate with this SHA-256 fingerprint, and no other.")
  var pin: String?

  @Option(
    help: "The folder with the test authority, as `portcullis dev-certs` makes it.", completion: .directory)
  var authority = "certs/dev"

  @Option(help: "<team id>.<bundle id> of the devices' keys.")
  var appID: String

  @Option(help: "The App Attest environment of the keys: production or development.")
  var environment = AttestEnvironment.development

  @Option(help: "Keys to register, at most \(Bounds.devices.upperBound).")
  var devices = Defaults.devices

  @Option(help: "Sessions open while messages go round, at most \(Bounds.sessions.upperBound); 0 sends none.")
  var sessions = Defaults.sessions

  @Option(help: "Threads, each of which does one thing at a time, at most \(Bounds.concurrency.upperBound).")
  var concurrency = Defaults.concurrency

  @Option(help: "Admissions a second, at most \(Bounds.rate.upperBound); 0 is as fast as answers come.")
  var rate = Defaults.rate

  @Option(help: "Messages a second, at most \(Bounds.messageRate.upperBound); 0 is as fast as answers come.")
  var messageRate = Defaults.messageRate

  @Option(help: "Seconds of each of the two measured parts, at most \(Bounds.seconds.upperBound).")
  var duration = Defaults.seconds

  @Option(help: "Length of a message, at most \(Bounds.messageBytes.upperBound).")
  var messageBytes = Defaults.messageBytes

  @Option(help: "How many seconds connecting, or one answer, may take.")
  var timeout = 10

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    _ = try GateOptions.trust(ca: ca, pin: pin)
    try Self.check(devices, Bounds.devices, "--devices")
    try Self.check(sessions, Bounds.sessions, "--sessions")
    try Self.check(concurrency, Bounds.concurrency, "--concurrency")
    try Self.check(rate, Bounds.rate, "--rate")
    try Self.check(messageRate, Bounds.messageRate, "--message-rate")
    try Self.check(duration, Bounds.seconds, "--duration")
    try Self.check(messageBytes, Bounds.messageBytes, "--message-bytes")
    try Self.check(timeout, GateOptions.timeouts, "--timeout")
  }

  private static func check(_ value: Int, _ bounds: ClosedRange<Int>, _ name: String) throws {
    guard bounds.contains(value) else {
      throw ValidationError("\(name) takes \(bounds.lowerBound) to \(bounds.upperBound).")
    }
  }

  func run() throws {
    let plan = BenchPlan(
      url: url, trust: try GateOptions.trust(ca: ca, pin: pin), appID: appID, environment: environment,
      devices: devices, sessions: sessions, concurrency: concurrency, rate: rate, messageRate: messageRate,
      seconds: duration, messageBytes: messageBytes, timeoutSeconds: timeout)
    let authority: TestAttestationAuthority
    do throws(GateClientError) {
      do { authority = try .load(from: self.authority) } catch { throw .device(error) }
      try knock(plan)
    } catch {
      throw SimulateFailure.report(error)
    }
    let report: BenchReport
    do {
      report = BenchReport(plan, try Bench.run(plan, by: authority, watch: BenchWatch.ifTerminal(plan)))
    } catch {
      complain(error.description)
      throw ExitStatus.osError
    }
    var output = Output()
    if json {
      try output.line(json: report.json)
    } else {
      for line in report.lines { try output.line(line) }
    }
    try output.flush()
    if report.hasFailed { throw ExitStatus.unavailable }
  }

  /// What is wrong with all connections is told once, with its remedy, before there are many.
  private func knock(_ plan: BenchPlan) throws(GateClientError) {
    let client = try GateClient(plan.url, trust: plan.trust, timeout: .seconds(plan.timeoutSeconds))
    let response = try client.get(EndpointPath.health)
    guard response.status == 200 else { throw .refused(response) }
  }
}

/// One line on a terminal's standard error that says how far it is, from the second second on.
private enum BenchWatch {
  static func ifTerminal(_ plan: BenchPlan) -> ((BenchProgress) -> Void)? {
    guard isatty(2) == 1 else { return nil }
    let start = SystemClock().monotonic()
    return { progress in
      guard SystemClock().monotonic() - start > .seconds(1) else { return }
      let (part, done) = progress.now
      let text =
        switch part {
        case .registering: "registered \(done) of \(plan.devices) devices"
        case .admitting: "admitted \(done), for \(plan.seconds) s"
        case .opening: "opened \(done) of \(plan.sessions) sessions"
        case .echoing: "\(done) messages came back, for \(plan.seconds) s"
        }
      let isOver = progress.endedThreads == plan.workers
      // To the line's beginning, and what stood there before erased.
      tell(isOver ? "\r\u{1B}[K" : "\r\u{1B}[K\(text)")
    }
  }
}
