/// At a terminal, which device somebody is about to decide on, before he does: an id says nothing to a person.
import Configuration
import JSON
import Prompt
import Registry

enum DeviceQuestion {
  private static let shown = [
    "device_name", "subject", "status", "platform", "level", "uv", "created_at", "seen_at", "device_id",
  ]

  /// Ends the command where the answer is not yes.
  static func ask(_ question: String, of device: String, _ configuration: GateConfiguration) throws {
    guard Question.canBeAsked else { return }
    let found = try RegistryAccess.order(.devicesShow, [("id", .string(device))], configuration)
    tell(found)
    try Question.ask(question)
  }

  /// The same of all devices of a subject.
  static func ask(_ question: String, ofAll subject: String, _ configuration: GateConfiguration) throws {
    guard Question.canBeAsked else { return }
    let pages = RegistryPages(
      verb: .devicesList, arguments: [("subject", .string(subject))], cursor: "device_id",
      configuration: configuration)
    for found in try pages.all() { tell(found) }
    try Question.ask(question)
  }

  private static func tell(_ found: JSONValue) {
    let rows = shown.compactMap { name in
      found.object?[name].map { (name, RegistryText.text($0, of: name)) }
    }
    for line in columns(rows) { Prompt.tell(line + "\n") }
    Prompt.tell("\n")
  }
}
