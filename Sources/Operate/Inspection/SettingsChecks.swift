/// The parts of `portcullis check` that look at no more than this process and its settings.
import Assembly
import Charsets
package import Configuration
import Prompt
import Time

package enum SettingsChecks {
  /// Environment and file as they are now, and all that they say wrong.
  package static func load(
    _ file: ConfigurationLoader.File?, _ report: inout CheckReport
  ) -> Result<GateConfiguration, ConfigurationFailure> {
    switch Startup.load(file) {
    case .success(let loaded):
      for warning in loaded.warnings { report.warning("configuration", "\(warning)") }
      let kind = loaded.configuration.isProduction ? "production" : "not production"
      report.ok("configuration", "\(kind), \(loaded.configuration.workers) event loops")
      return .success(loaded.configuration)
    case .failure(let failure):
      for warning in failure.warnings { report.warning("configuration", "\(warning)") }
      for problem in failure.problems { report.problem("configuration", problem.description, .configuration) }
      return .failure(failure)
    }
  }

  package static func clock(_ report: inout CheckReport) {
    let now = SystemClock().wall()
    if now < Version.notBefore {
      // A gate starts all the same, as a board without a battery has no time yet.
      report.warning(
        "clock",
        "\(now.timestamp) is before this version was made (\(Version.notBefore.timestamp)): no device can register until "
          + "then; set the clock")
    } else {
      report.ok("clock", now.timestamp)
    }
  }

  /// Where the gate speaks telnet; games may offer others than `GAME_CHARSET`.
  package static func charsets(_ configuration: GateConfiguration, _ report: inout CheckReport) {
    guard configuration.sessions.haveTelnet else { return }
    let missing = Charset.allCases.filter { !CharsetLibrary.isAvailable($0) }
    if missing.isEmpty {
      report.ok("charset", "\(configuration.telnet.charset.name)")
    } else {
      report.warning(
        "charset",
        "\(configuration.telnet.charset.name); a game that offers \(missing.map(\.name).joined(separator: ", ")) is "
          + "refused that, for the C library has no modules for them")
    }
  }
}
