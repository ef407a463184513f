/// `portcullis doctor`: what only a client sees of a gate (docs/troubleshooting.md, "Doctor").
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Dialing
import Prompt
import System

struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Look at a gate as its players do, and say what is wrong and what mends it.",
    discussion: """
      Asks for the name's addresses of both families and connects to each; judges the certificate by the system's \
      authorities, or those of --ca; tries the versions of TLS; compares clocks; asks for /healthz and for a challenge, and \
      sees whether an upgrade without any credential is refused as the gate refuses. Where the control socket of these \
      settings answers, also says what that gate has counted of misplaced headers; with --game listens to BACKEND as the \
      gate would. Changes nothing, registers nothing.

      Each finding is ok, a warning or a problem; the last two say why they matter and what mends them. Ends with 0, also \
      when there are warnings, unless --strict (1), and with 69 when there are problems. What is local and set in \
      files, check looks at.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "Judge the certificate by the authorities in this PEM file.", completion: .file())
  var ca: String?

  @Flag(help: "Connect to the game of these settings, and tell its first words and telnet options.")
  var game = false

  @Flag(help: "End with status 1 when there are warnings.")
  var strict = false

  @Flag(help: "One JSON object.")
  var json = false

  @Argument(help: "Where players come in: wss://host[:port][/path].")
  var url: String

  func run() throws {
    guard let target = GateURL(url) else {
      throw ValidationError("not a wss:// or https:// URL: \(PrintableText.field(url, limit: 200))")
    }
    var report = DoctorReport()
    let trust = ca.map { ServerTrust.authorities(path: $0) } ?? .system
    let reach = ReachFindings(url: target, trust: trust)
    if let address = reach.look(&report) {
      TLSFindings(url: target, trust: trust, address: address).look(&report)
      // Whatever the certificate is: one finding about it is enough.
      HTTPFindings(url: target, address: address, certificate: reach.pin(at: address)).look(&report)
    }
    // A client's machine has no settings, which is as it should be.
    let configuration = try? Startup.configuration(file: settings.read(), scope: .values, tell: { _ in })
      .configuration
    CountFindings(configuration: configuration).look(&report)
    if game { GameFindings(configuration: configuration).look(&report) }
    try report.print(asJSON: json)
    if report.count(.problem) > 0 { throw ExitStatus.unavailable }
    if strict, report.count(.warning) > 0 { throw ExitCode(1) }
  }

  /// For each step that waits for somebody: long for a network, short for whoever waits for a doctor.
  static let patience: Duration = .seconds(5)
}
