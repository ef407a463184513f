/// `portcullis approvals bars`: who may not ask any more (docs/running.md, "Approvals socket").
import ArgumentParser
import JSON

struct ApprovalsBars: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bars", abstract: "Requesters and services that somebody has reported.",
    discussion: """
      They ask the running gate over APPROVALS_SOCKET, for operators; without one over CONTROL_SOCKET, for root and \
      the gate's user.
      """,
    subcommands: [BarsList.self, BarsLift.self])
}

struct BarsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List who is barred.",
    discussion: """
      One line a bar: service, requester, subject, and since when. Without a requester it is the service that was \
      reported three times. With --json one array.
      """)

  @OptionGroup var settings: SettingsFile
  @Flag(help: "One JSON array.") var json = false

  func run() throws {
    let result = try RegistryAccess.orderOfUser("bars-list", [], try settings.values())
    try RegistryText.list(result, ["service", "requester", "subject", "at"], json: json)
  }
}

struct BarsLift: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lift", abstract: "Let a requester ask a subject again.",
    discussion: "Without --requester it lifts the bar of the service itself, and forgives its reports.")

  @OptionGroup var settings: SettingsFile
  @Option(help: "The service that asked.") var service: String
  @Option(help: "On whose behalf it asked; the service itself, when left out.") var requester: String?
  @Option(help: "Who reported it.") var subject: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.orderOfUser(
      "bars-lift",
      [
        ("service", .string(service)), ("requester", requester.map(JSONValue.string)),
        ("subject", .string(subject)),
      ],
      try settings.values())
    try RegistryText.say("lifted", result, json: json)
  }
}
