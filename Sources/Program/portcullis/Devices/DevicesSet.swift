/// `portcullis devices set`: whose a device is, what it is called, and what it may lack for a while (docs/running.md,
/// "Commands"); and the commands for one of these each, which were there before it.
import ArgumentParser
import Bytes
import Configuration
import Control
import JSON
import Prompt
import Registry
import System
import Time

struct DevicesSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set a device's owner or name, or waive what it lacks until a date.",
    discussion: """
      Options for several changes may be given together; they are made in the order of this list, until one is refused. At \
      a terminal it shows the device and asks first.

      With --until and --reason the device passes without what ASSURANCE_POLICY asks for and it cannot show. The exception \
      is shown by devices list and stands in the audit with its reason. Without --lacks it waives everything that the class \
      requires.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String
  @Option(help: "The name of the person it belongs to.") var subject: String?
  @Option(help: "How it is to be called.") var name: String?
  @Option(
    help: "The last day of an exception (2027-01-31, UTC), a timestamp, or a length of time such as 30d.")
  var until: Moment?
  @Option(help: "What it lacks, and why it passes all the same.") var reason: String?
  @Option(
    help: """
      What it passes without: level, uv, play, presence or attestation (one that is new enough); may be repeated.
      """)
  var lacks: [DeviceLack] = []
  @Flag(help: "One JSON object: the device with its changes.") var json = false

  func validate() throws {
    guard (until == nil) == (reason == nil), lacks.isEmpty || until != nil else {
      throw ValidationError("an exception needs both --until and --reason")
    }
    if subject == nil, name == nil, until == nil {
      throw ValidationError("nothing to set: give --subject, --name, or --until with --reason")
    }
  }

  func run() throws {
    let configuration = try settings.values()
    let changes = DeviceChange.all(
      subject: subject, name: name, until: until, reason: reason, lacks: lacks, now: SystemClock().wall())
    let questions = changes.map(\.question).joined(separator: ", and ")
    try DeviceQuestion.ask("\(questions)?", of: device, configuration)
    for change in changes {
      let result = try change.order(device, configuration)
      if !json { try RegistryText.say(change.done(device), result, json: false) }
    }
    guard json else { return }
    let device = try RegistryAccess.order(.devicesShow, [("id", .string(device))], configuration)
    try RegistryText.show(device, json: true)
  }
}

/// One thing that is set of a device.
struct DeviceChange {
  let question: String
  /// What is said before and behind the device's id.
  private let said: (String, String)
  private let verb: OperatorVerb
  private let arguments: [(name: String, value: JSONValue?)]

  static func all(
    subject: String?, name: String?, until: Moment?, reason: String?, lacks: [DeviceLack], now: UnixTime
  ) -> [DeviceChange] {
    var changes: [DeviceChange] = []
    if let subject { changes.append(.owner(subject)) }
    if let name { changes.append(.name(name)) }
    if let until, let reason { changes.append(.exception(until: until, reason, lacks, now: now)) }
    return changes
  }

  static func owner(_ subject: String) -> DeviceChange {
    DeviceChange(
      question: "assign this device to \(PrintableText.field(subject, limit: 128))", said: ("assigned", ""),
      verb: .devicesAssign, arguments: [("subject", .string(subject))])
  }

  static func name(_ name: String) -> DeviceChange {
    DeviceChange(
      question: "call this device \(PrintableText.field(name, limit: 128))", said: ("renamed", ""),
      verb: .devicesRename, arguments: [("name", .string(name))])
  }

  static func exception(
    until: Moment, _ reason: String, _ lacks: [DeviceLack], now: UnixTime
  ) -> DeviceChange {
    let seconds = until.seconds(after: now)
    let end = UnixTime(milliseconds: seconds * 1000).timestamp
    let lacking =
      lacks.isEmpty ? "all that its class asks for" : lacks.map(\.rawValue).joined(separator: ", ")
    return DeviceChange(
      question: "let this device pass until \(end) without \(lacking)", said: ("excepted", "  until \(end)"),
      verb: .devicesExcept,
      arguments: [
        ("until", .number(JSONNumber(seconds))), ("reason", .string(reason)),
        ("lacks", lacks.isEmpty ? nil : .array(lacks.map { .string($0.rawValue) })),
      ])
  }

  func order(_ device: String, _ configuration: GateConfiguration) throws -> JSONValue {
    try RegistryAccess.order(verb, [("id", .string(device))] + arguments, configuration)
  }

  func done(_ device: String) -> String { "\(said.0) \(device)\(said.1)" }
}

// MARK: Former commands

struct DevicesAssign: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "assign", abstract: "Now: devices set ID --subject NAME.", shouldDisplay: false)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String
  @Argument(help: "The name of the person it belongs to.") var subject: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    complain("devices assign is now: portcullis devices set ID --subject NAME")
    let (change, configuration) = (DeviceChange.owner(subject), try settings.values())
    try DeviceQuestion.ask("\(change.question)?", of: device, configuration)
    try RegistryText.say(change.done(device), try change.order(device, configuration), json: json)
  }
}

struct DevicesRename: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Now: devices set ID --name NAME.", shouldDisplay: false)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String
  @Argument(help: "How it is to be called.") var name: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    complain("devices rename is now: portcullis devices set ID --name NAME")
    let change = DeviceChange.name(name)
    try RegistryText.say(change.done(device), try change.order(device, try settings.values()), json: json)
  }
}

struct DevicesExcept: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "except", abstract: "Now: devices set ID --until WHEN --reason TEXT.", shouldDisplay: false)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String
  @Option(help: "The last day (2027-01-31, UTC), a timestamp, or a length of time such as 30d.")
  var until: Moment
  @Option(help: "What it lacks, and why it passes all the same.") var reason: String
  @Option(help: "What it passes without; may be repeated.") var lacks: [DeviceLack] = []
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    complain("devices except is now: portcullis devices set ID --until WHEN --reason TEXT")
    let change = DeviceChange.exception(until: until, reason, lacks, now: SystemClock().wall())
    let configuration = try settings.values()
    try DeviceQuestion.ask("\(change.question)?", of: device, configuration)
    try RegistryText.say(change.done(device), try change.order(device, configuration), json: json)
  }
}

extension DeviceLack: ExpressibleByArgument {}
