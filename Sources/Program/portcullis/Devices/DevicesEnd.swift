/// `portcullis devices revoke`, `forget`, `unlock` and `rotate-token-keys` (docs/running.md, "Commands").
import ArgumentParser
import Bytes
import Control
import JSON
import Registry
import System
import Time

struct DevicesRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Refuse a device from now on.",
    discussion: """
      Its tokens, leases and sessions have ended when this returns, its votes count no more, and its App Attest key \
      is refused too. A revocation cannot be undone; the phone may be enrolled or paired anew, with new keys. Ends \
      with status 65 when there is no such device, and with 74 when the device is refused from now on but that could \
      not be written: the gate tries again by itself.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.order(.devicesRevoke, [("id", .string(device))], try settings.values())
    try RegistryText.say("revoked \(device)", result, json: json)
  }
}

struct DevicesForget: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Revoke a device and erase what is known of it.",
    discussion: """
      For a person who asks to be forgotten: names and keys are deleted, and texts of the audit erased, while its chain \
      still checks. When this returns, no file of the store holds them, its log included. Backups made before keep \
      them. Ends with status 65 when there is no such device, and with 74 when it is refused from now on but that could \
      not be written, or the log not be emptied: order it again.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The device's id.") var device: String?
  @Option(help: "All devices of this subject, and the subject's name.") var subject: String?
  @Flag(help: "One JSON object.") var json = false

  func validate() throws {
    guard (device == nil) != (subject == nil) else {
      throw ValidationError("name either a device or, with --subject, a subject")
    }
  }

  func run() throws {
    let configuration = try settings.values()
    if let device { try DeviceQuestion.ask("forget this device for good?", of: device, configuration) }
    if let subject {
      let name = PrintableText.field(subject, limit: 128)
      try DeviceQuestion.ask(
        "forget \(name) and all of these devices for good?", ofAll: subject, configuration)
    }
    let result = try RegistryAccess.order(
      .devicesForget, [("id", device.map(JSONValue.string)), ("subject", subject.map(JSONValue.string))],
      configuration)
    try RegistryText.say("forgotten", result, json: json)
  }
}

struct DevicesUnlock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Let a subject have one-time codes again.",
    discussion: """
      A hundred wrong codes in a row, all of them while one of the subject's phones had given a right one, lock it: somebody \
      guesses, and knows when to. Find out who before. A device that belongs to nobody is named by its id. Ends with \
      status 65 when nobody has that name.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The subject's name.") var subject: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.order(
      .devicesUnlock, [("subject", .string(subject))], try settings.values())
    try RegistryText.say("unlocked \(subject)", result, json: json)
  }
}

struct DevicesRotateTokenKeys: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate-token-keys", abstract: "Sign tokens by a new key from now on.",
    discussion: """
      Tokens that were issued stay good until they end, ten minutes at most. With --now they end at once, as after the \
      loss of a host or of a file that holds the keys: phones get others by themselves, long polls are answered, and \
      codes that wait to be typed have to be asked for again. /.well-known/jwks.json has the new set at once; \
      programs that keep it for a while must fetch it again. Ends with status 74 when it could not be written.
      """)

  @OptionGroup var settings: SettingsFile
  @Flag(help: "End all tokens that were issued before.") var now = false
  @Flag(help: "One JSON object: kid, the name of the key that signs from now on.") var json = false

  func run() throws {
    let result = try RegistryAccess.order(
      .devicesRotateTokenKeys, [("now", .boolean(now))], try settings.values())
    let kid = result.object?["kid"]?.string ?? "-"
    try RegistryText.say("tokens are signed by \(PrintableText.field(kid, limit: 64))", result, json: json)
  }
}
