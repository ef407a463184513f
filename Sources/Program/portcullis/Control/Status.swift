/// `portcullis status`: whether all is well at the running gate, on one screen (docs/running.md, "Health").
import ArgumentParser
import Configuration
import Control
import JSON
import Prompt
import Registry
import System
import Time

struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show whether all is well: players, what waits for you, the last refusals.",
    discussion: """
      Asks the running gate over CONTROL_SOCKET. Ends with 0 only if the gate is well and not draining, as check --health \
      does; with 69 otherwise, and where no gate runs. What waits are requests for approvals and phones to confirm. \
      Refusals are of the last thousand, by code and step, the latest first.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let configuration = try settings.values()
    let status = try status(configuration)
    var output = Output()
    if json {
      var writer = JSONWriter()
      status.write(to: &writer)
      try output.line(json: writer)
    } else {
      let window = Output.isTerminal ? WindowSize(of: 1)?.columns : nil
      for line in status.lines(now: SystemClock().wall(), in: window, .standardOutput) {
        try output.line(line)
      }
    }
    try output.flush()
    if status.health.status != .ok { throw ExitStatus.unavailable }
  }

  private func status(_ configuration: GateConfiguration) throws -> GateStatus {
    let answer = try ask(.statistics, configuration)
    guard case .statistics(let statistics) = answer else { throw ControlAccess.unexpected(answer) }
    return GateStatus(
      statistics, approvals: try pending(.approvalsList, configuration),
      devices: try pending(.devicesList, configuration), refusals: try refusals(configuration))
  }

  private func ask(_ request: ControlRequest, _ configuration: GateConfiguration) throws -> ControlAnswer {
    try ControlAccess.ask(request, configuration, within: ControlClient.briefPatience)
  }

  /// Nil in a gate without devices.
  private func pending(_ verb: OperatorVerb, _ configuration: GateConfiguration) throws -> [JSONObject]? {
    let order = RegistryOrder(verb, [("state", .string("pending"))])
    let answer = try ask(.registry(order), configuration)
    if case .refused(let refusal) = answer, refusal.code == .devicesOff { return nil }
    guard case .registry(let result) = answer else { throw ControlAccess.unexpected(answer) }
    return (result.array ?? []).compactMap(\.object)
  }

  /// Nil from a gate that was not restarted after an update.
  private func refusals(_ configuration: GateConfiguration) throws -> [RefusalSummary]? {
    let answer = try ask(.refusals, configuration)
    if case .refused(let refusal) = answer, refusal.code == .unknownCommand { return nil }
    guard case .refusals(let refusals) = answer else { throw ControlAccess.unexpected(answer) }
    return refusals
  }
}
