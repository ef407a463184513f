/// `portcullis devices`: phones and their keys, asked of the running gate (docs/running.md, "Commands").
import ArgumentParser
import Bytes
import Control
import JSON
import Prompt
import Registry
import System

struct Devices: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, pair, confirm, name, revoke and forget devices; back their store up.",
    discussion: "All but restore ask the running gate over CONTROL_SOCKET.",
    subcommands: [
      DevicesList.self, DevicesShow.self, Pair.self, DevicesConfirm.self, DevicesSet.self, DevicesRevoke.self,
      DevicesUnlock.self, DevicesForget.self, DevicesRotateTokenKeys.self, DevicesBackup.self,
      DevicesRestore.self, DevicesAssign.self, DevicesRename.self, DevicesExcept.self,
    ])
}

struct DevicesList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List devices.",
    discussion: """
      One line a device: its id, state, subject, level of its keys, how a person is verified, platform and name, and \
      excepted_until= with the end of its exception, or - where it has none. With --json one array.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "Only those of this subject.")
  var subject: String?

  @Option(help: "Only those in this state: pending, active or revoked.")
  var state: DeviceState?

  @Flag(help: "One JSON array.")
  var json = false

  func run() throws {
    let pages = RegistryPages(
      verb: .devicesList,
      arguments: [("subject", subject.map(JSONValue.string)), ("state", state.map { .string($0.rawValue) })],
      cursor: "device_id", configuration: try settings.values())
    let members = ["device_id", "status", "subject", "level", "uv", "platform", "device_name"]
    if json { return try RegistryText.list(.array(try pages.all()), members, json: true) }
    var output = Output()
    if Output.isTerminal {
      var table = RegistryTable(members + ["except.until"], headings: ["except.until": "EXCEPTION ENDS"])
      try pages.each { rows throws in
        for row in rows { try table.add(row, to: &output) }
      }
      return try table.finish(&output)
    }
    try pages.each { rows throws in
      for row in rows {
        let exception = RegistryText.text(row.object?["except"]?.object?["until"], of: "until")
        try output.line(RegistryText.line(row, members) + "  excepted_until=" + exception)
      }
    }
    try output.flush()
  }
}

extension DeviceState: ExpressibleByArgument {}

struct DevicesShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one device.",
    discussion: "Ends with status 65 when there is no such device.")

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.order(.devicesShow, [("id", .string(device))], try settings.values())
    try RegistryText.show(result, json: json)
  }
}

struct DevicesConfirm: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "confirm", abstract: "Make a pending device active.",
    discussion: """
      The operator who confirms vouches that the device is in the hands of the person it is to stand for. A phone in the \
      middle of its pairing is confirmed by its six digits alone, where its QR code is shown: ends with status 65.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String
  @Option(help: "The name of the person it belongs to.") var subject: String?
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let configuration = try settings.values()
    let owner = subject.map { ", as \(PrintableText.field($0, limit: 128))'s" } ?? ""
    try DeviceQuestion.ask("confirm this device\(owner)?", of: device, configuration)
    let result = try RegistryAccess.order(
      .devicesConfirm, [("id", .string(device)), ("subject", subject.map(JSONValue.string))], configuration)
    try RegistryText.say("confirmed \(device)", result, json: json)
  }
}
