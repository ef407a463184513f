/// `portcullis approvals unbar`: a requester who was reported may ask again (docs/running.md, "Approvals socket").
import ArgumentParser
import JSON
import Registry

struct ApprovalsUnbar: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unbar", abstract: "Let a requester ask a subject again.",
    discussion: """
      Without --requester it lifts the bar of the service itself, and forgives its reports. approvals list --barred shows \
      what there is. Asks the running gate over APPROVALS_SOCKET, for operators; without one over CONTROL_SOCKET, for root \
      and the gate's user.
      """)

  @OptionGroup var settings: SettingsFile
  @Option(help: "The service that asked.") var service: String
  @Option(help: "On whose behalf it asked; the service itself, when left out.") var requester: String?
  @Option(help: "Who reported it.") var subject: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.orderOfUser(
      .barsLift,
      [
        ("service", .string(service)), ("requester", requester.map(JSONValue.string)),
        ("subject", .string(subject)),
      ],
      try settings.values())
    try RegistryText.say("lifted", result, json: json)
  }
}
